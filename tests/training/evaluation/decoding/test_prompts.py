"""Zero-, one- and few-shot prompts from YAML files."""

import pytest

from bitcipher.errors import BitcipherError
from training.evaluation.decoding.prompts import PromptFile, read_prompts

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


def test_prompts_with_shots(written):
    file = read_prompts(written(FILE))
    head, cat, yes = "Say it in French.\n", "English: cat\nFrench: chat\n", "English: yes\nFrench: oui\n"
    for shots, shown in enumerate(("", cat, cat + yes)):
        assert file.prompts(shots) == [
            f"{head}{shown}English: {asked}\nFrench:" for asked in ("dog", "1.50", "{input} {output} {0}")
        ]
    with pytest.raises(BitcipherError, match=r"between 0 and 2.* got 3"):
        file.prompts(3)
    with pytest.raises(BitcipherError, match="got -1"):
        file.prompts(-1)


def test_default_template_is_input(written):
    assert read_prompts(written("inputs: [one two, three]")).prompts(0) == ["one two", "three"]


def test_trailing_spaces_are_stripped():
    assert PromptFile(inputs=("a",), template="{input} =\n {output}").prompts(0) == ["a =\n"]


@pytest.mark.parametrize(
    ("content", "fact"),
    [
        ("inputs: [a", "not valid YAML"),
        (b"inputs: [\xff]", "not valid YAML"),
        ("- a\n- b", "`inputs`"),
        ("", "`inputs`"),
        ("inputs: []", "`inputs`"),
        ("inputs: [a]\ntemplates: b", "`templates`"),
        ("inputs: hello", "`inputs`"),
        ("inputs: [a]\nexamples: hello", "`examples`"),
        ("inputs: [[a]]", "`inputs.0`"),
        ("inputs: [a]\ntemplate: '{output}{input}'", "`template` must contain"),
        ("inputs: [a]\nexamples: [{input: b}]", "`examples.0.output` is missing"),
        ("inputs: [a]\nexamples: [b]", "`examples.0`"),
    ],
)
def test_invalid_prompt_file_raises(written, content, fact):
    with pytest.raises(BitcipherError, match=fact) as error:
        read_prompts(written(content))
    assert "\n" not in str(error.value)


def test_missing_prompt_file_raises(tmp_path):
    with pytest.raises(BitcipherError, match=r"missing\.yaml"):
        read_prompts(str(tmp_path / "missing.yaml"))
