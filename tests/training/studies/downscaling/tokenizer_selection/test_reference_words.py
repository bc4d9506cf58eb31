import pytest

from bitcipher.errors import BitcipherError
from training.studies.downscaling.tokenizer_selection.reference_words import read_reference_words, reference_words


def test_reference_words_match_table_5():
    words = reference_words()
    assert len(words) == 13
    assert sum(len(parts) for parts in words.values()) == 27
    assert words["cooking"] == ("cook", "ing")
    assert words["european"] == ("europ", "ean")
    assert words["concentric"] == ("con", "centr", "ic")


@pytest.mark.parametrize(
    "text",
    [
        "Cooking: cook, ing\nno-one: no,-one\n",
        "cooking: [Cook, ing]\nno-one:\n  - no\n  - -one\n",
        "# mine\n\n'cooking' :  cook ,ing\nNo-One: no, -one",
    ],
)
def test_read_reference_words_from_lines_and_yaml(tmp_path, text):
    (tmp_path / "words.txt").write_text(text)
    assert read_reference_words(str(tmp_path / "words.txt")) == {"cooking": ("cook", "ing"), "no-one": ("no", "-one")}


def test_yaml_keywords_are_read_as_words(tmp_path):
    (tmp_path / "words.yaml").write_text("untrue: un, true\n1020: 10, 20\nnullyes: [null, yes]\n")
    words = {"untrue": ("un", "true"), "1020": ("10", "20"), "nullyes": ("null", "yes")}
    assert read_reference_words(str(tmp_path / "words.yaml")) == words


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "must contain words with their sub-tokens"),
        ("cooking\nsinging", "must contain words with their sub-tokens"),
        ("[a, b]", "must contain words with their sub-tokens"),
        ("cooking: cook, ing\nmaking: make, ing", "line 2: the sub-tokens make, ing do not spell the word 'making'"),
        ("making: mak,, ing", "line 1: the sub-tokens mak, , ing do not spell"),
        ("cook: cook", "line 1: the word 'cook' is not split, or split into single letters"),
        ("is: [i, s]", "line 1: the word 'is' is not split, or split into single letters"),
        ("cooking: cook, ing\n\nCooking: coo, king", "line 3: the word 'cooking' occurs twice"),
        ("cooking:\n  cook: ing", "line 1: expected a word and its sub-tokens"),
        ("cooking: [[cook], ing]", "line 1: expected a word and its sub-tokens"),
        ("[a]: a, b", "line 1: expected a word and its sub-tokens"),
        ("cooking:", "line 1: the sub-tokens  do not spell the word 'cooking'"),
        ("ice cream: ice, ' cream'", "line 1: the sub-tokens ice, ' cream' do not spell"),
        ("cooking: 'cook", "is not valid YAML: while scanning"),
        ("[" * 600, "is not valid YAML"),
        ("\x00", "is not valid YAML"),
    ],
    ids=lambda text: text[:20],
)
def test_invalid_word_list_raises_with_line_number(tmp_path, text, sentence):
    (tmp_path / "words.yaml").write_text(text)
    with pytest.raises(BitcipherError) as raised:
        read_reference_words(str(tmp_path / "words.yaml"))
    assert str(tmp_path / "words.yaml") in str(raised.value)
    assert sentence in str(raised.value)
    assert "\n" not in str(raised.value)
