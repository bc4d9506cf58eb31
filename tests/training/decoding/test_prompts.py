"""Prompts with no, one and more examples, from files of YAML."""

import pytest

from bitcipher.errors import BitcipherError
from training.decoding import PromptFile, read_prompts

FILE = """
instruction: "Say it in French.\\n"
template: "English: {input}\\nFrench: {output}\\n"
examples:
  - {input: cat, output: chat}
  - {input: yes, output: oui}
inputs: [dog, 1.50, "{input} {output} {0}"]
"""


@pytest.fixture
def written(tmp_path):
    def write(text: str | bytes) -> str:
        path = tmp_path / "prompts.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


def test_no_one_and_two_examples_are_shown(written):
    file = read_prompts(written(FILE))
    head, cat, yes = "Say it in French.\n", "English: cat\nFrench: chat\n", "English: yes\nFrench: oui\n"
    for shots, shown in enumerate(("", cat, cat + yes)):
        assert file.prompts(shots) == [
            f"{head}{shown}English: {asked}\nFrench:" for asked in ("dog", "1.50", "{input} {output} {0}")
        ]
    with pytest.raises(BitcipherError, match="3 examples are asked for, and the file of prompts has 2"):
        file.prompts(3)
    with pytest.raises(BitcipherError, match="-1 examples are asked for"):
        file.prompts(-1)


def test_without_a_template_a_prompt_is_its_input(written):
    assert read_prompts(written("inputs: [one two, three]")).prompts(0) == ["one two", "three"]


def test_only_spaces_go_from_a_prompt_s_end():
    assert PromptFile(("a",), "{input} =\n {output}").prompts(0) == ["a =\n"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("inputs: [a", "is not YAML: .*line 1"),
        (b"inputs: [\xff]", "is not YAML"),
        ("- a\n- b", "must hold `inputs`, a list of texts, and may hold template, examples, instruction"),
        ("", "must hold `inputs`"),
        ("inputs: []", "must hold `inputs`"),
        ("inputs: [a]\ntemplates: b", "must hold `inputs`"),
        ("inputs: hello", "The inputs of .* must be a list"),
        ("inputs: [a]\nexamples: hello", "The examples of .* must be a list"),
        ("inputs: [[a]]", r"has \['a'\] where a text is wanted"),
        ("inputs: [a]\ninstruction: {b: c}", "where a text is wanted"),
        ("inputs: [a]\ntemplate: [b]", "where a text is wanted"),
        ("inputs: [a]\ntemplate: '{output}{input}'", r"must have \{input\}, and \{output\} behind it"),
        ("inputs: [a]\ntemplate: '{input}'", r"must have \{input\}, and \{output\} behind it"),
        ("inputs: [a]\nexamples: [{input: b}]", "must have input and output, and .* has not"),
        ("inputs: [a]\nexamples: [b]", "must have input and output, and 'b' has not"),
    ],
)
def test_a_file_of_another_form_is_refused_in_a_sentence(written, content, sentence):
    with pytest.raises(BitcipherError, match=sentence) as told:
        read_prompts(written(content))
    assert "\n" not in str(told.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(BitcipherError, match=r"missing\.yaml"):
        read_prompts(str(tmp_path / "missing.yaml"))
