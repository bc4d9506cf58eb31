import pytest

from bitcipher.errors import BitcipherError
from training.tokenizer_selection import read_reference_words, reference_words


def test_the_paper_s_words_are_those_of_table_5():
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
def test_own_words_are_read_from_lines_and_from_yaml(tmp_path, text):
    (tmp_path / "words.txt").write_text(text)
    assert read_reference_words(str(tmp_path / "words.txt")) == {"cooking": ("cook", "ing"), "no-one": ("no", "-one")}


def test_words_are_words_even_where_yaml_knows_better(tmp_path):
    (tmp_path / "words.yaml").write_text("untrue: un, true\n1020: 10, 20\nnullyes: [null, yes]\n")
    words = {"untrue": ("un", "true"), "1020": ("10", "20"), "nullyes": ("null", "yes")}
    assert read_reference_words(str(tmp_path / "words.yaml")) == words


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "must hold words with their sub-tokens"),
        ("cooking\nsinging", "must hold words with their sub-tokens"),
        ("[a, b]", "must hold words with their sub-tokens"),
        ("cooking: cook, ing\nmaking: make, ing", "line 2: the sub-tokens make, ing do not spell the word 'making'"),
        ("making: mak,, ing", "line 1: the sub-tokens mak, , ing do not spell"),
        ("cook: cook", "line 1: the word 'cook' is whole or in single letters, which never scores"),
        ("is: [i, s]", "line 1: the word 'is' is whole or in single letters"),
        ("cooking: cook, ing\n\nCooking: coo, king", "line 3: the word 'cooking' is there twice"),
        ("cooking:\n  cook: ing", "line 1: a word and its sub-tokens are wanted"),
        ("cooking: [[cook], ing]", "line 1: a word and its sub-tokens are wanted"),
        ("[a]: a, b", "line 1: a word and its sub-tokens are wanted"),
        ("cooking:", "line 1: the sub-tokens  do not spell the word 'cooking'"),
        ("ice cream: ice, ' cream'", "line 1: the sub-tokens ice, ' cream' do not spell"),
        ("cooking: 'cook", "is no list of words in YAML: while scanning"),
        ("[" * 600, "is no list of words in YAML"),
        ("\x00", "is no list of words in YAML"),
    ],
    ids=lambda text: text[:20],
)
def test_what_is_no_list_of_words_is_told_with_its_line(tmp_path, text, said):
    (tmp_path / "words.yaml").write_text(text)
    with pytest.raises(BitcipherError) as raised:
        read_reference_words(str(tmp_path / "words.yaml"))
    assert str(tmp_path / "words.yaml") in str(raised.value)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)
