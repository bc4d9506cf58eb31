import pytest

from training.data.train_tokenizer import train_tokenizer
from training.studies.downscaling.tokenizer_selection.published_scores import published_rows
from training.studies.downscaling.tokenizer_selection.reference_words import reference_words
from training.studies.downscaling.tokenizer_selection.subtoken_matching import (
    count_matches,
    matching_score,
    split_words,
)

TEXTS = ["cook cook danger ring sing king pre text fit"] * 9
# Vocabulary sizes that suffice for all words of the text.
SIZES = {"bpe": 300, "wordpiece": 80}


@pytest.mark.parametrize(
    ("split", "reference", "found"),
    [
        (["cook", "ing"], ["cook", "ing"], 2),
        (["con", "centr", "ic"], ["con", "centr", "ic"], 3),
        (["con", "cent", "ric"], ["con", "centr", "ic"], 1),
        (["c", "ook", "ing"], ["cook", "ing"], 1),
        (["coo", "king"], ["cook", "ing"], 0),
        (["cooking"], ["cook", "ing"], 0),
        (["c", "a", "t", "s"], ["cat", "s"], 0),
        (["c", "at", "s"], ["cat", "s"], 1),
        (["deco", "de"], ["de", "code"], 1),
        (["so", "so", "mi"], ["so", "somi"], 1),
        (["s", "o", "so"], ["so", "so"], 1),
    ],
)
def test_matches(split, reference, found):
    assert count_matches(split, reference) == found


def test_only_divisor_265_explains_table_6():
    """Every score is an integer divided by 265, rounded or truncated to four decimals."""
    scores = {round(row.matching_score * 10_000) for row in published_rows()} | {2339}  # and that of appendix C.2

    def printed(found, total):
        return {found * 10_000 // total, (found * 20_000 + total) // (2 * total)}

    totals = range(127, 400)  # at least one sub-token per word
    explaining = [total for total in totals if scores <= set().union(*(printed(n, total) for n in range(total)))]
    assert explaining == [265]


def test_matches_of_table_6():
    found = {(row.kind, row.size): round(row.matching_score * 265) for row in published_rows()}
    assert found == {
        **{("bpe", 18_000): 76, ("bpe", 19_000): 69, ("bpe", 20_000): 66, ("bpe", None): 41},
        **{("wordpiece", 16_000): 9, ("wordpiece", 17_000): 7, ("wordpiece", 18_000): 5, ("wordpiece", None): 9},
        **{("unigram", 9_000): 8, ("unigram", 10_000): 6, ("unigram", 11_000): 5, ("unigram", None): 9},
    }


@pytest.mark.parametrize("kind", SIZES)
def test_parts_have_no_markers(kind):
    tokenizer = train_tokenizer(TEXTS, kind, SIZES[kind])
    assert split_words(tokenizer, ["cooking", "dangering", "cook"]) == [["cook", "ing"], ["danger", "ing"], ["cook"]]


def test_token_of_space_is_no_part():
    tokenizer = train_tokenizer(TEXTS, "unigram", 40)
    assert "▁" in tokenizer.encode(" kcook").tokens
    (parts,) = split_words(tokenizer, ["kcook"])
    assert "".join(parts) == "kcook"


def test_bytes_of_letter_are_one_part():
    assert split_words(train_tokenizer(TEXTS, "bpe", 261), ["né"]) == [["n", "é"]]


def test_word_is_split_as_within_sentence():
    tokenizer = train_tokenizer(["so cook so cook"] * 9, "bpe", 300)  # its vocabulary has " cook", but not "cook"
    assert split_words(tokenizer, ["cook"]) == [["cook"]]
    assert len(tokenizer.encode("cook")) > 1


def test_special_token_names_are_split_as_text():
    assert split_words(train_tokenizer(TEXTS, "bpe", 261), ["<s>"]) == [["<", "s", ">"]]


def test_matching_score_divides_by_all_sub_tokens():
    words = {"cooking": ("cook", "ing"), "kingking": ("king", "king"), "concentric": ("con", "centr", "ic")}
    tokenizer = train_tokenizer(TEXTS, "wordpiece", SIZES["wordpiece"])
    splits = split_words(tokenizer, words)
    assert splits[0] == ["cook", "ing"]
    found = [count_matches(split, reference) for split, reference in zip(splits, words.values(), strict=True)]
    assert found[0] == 2
    assert matching_score(tokenizer, words) == sum(found) / 7


def test_unsplit_words_and_single_letters_score_0():
    whole = train_tokenizer([" ".join(reference_words())] * 9, "wordpiece", 2000)
    assert all(len(split) == 1 for split in split_words(whole, reference_words()))
    assert matching_score(whole, reference_words()) == 0
    assert matching_score(train_tokenizer(TEXTS, "bpe", 261), reference_words()) == 0
