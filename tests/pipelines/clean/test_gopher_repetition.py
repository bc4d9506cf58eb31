"""Repetition rule of Gopher: each threshold by hand, and n-grams against a plain reference implementation."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from pipelines.clean.base import Drop
from pipelines.clean.document import Document
from pipelines.clean.gopher_repetition import GopherRepetitionRule
from pipelines.clean.ngrams import duplicate_ngram_characters, extend_hashes, top_ngram_characters
from pipelines.clean.word_table import words_of

# Thresholds that nothing exceeds, so that each test can lower one.
OFF = {
    **dict.fromkeys(
        (
            "max_duplicate_paragraphs",
            "max_duplicate_paragraph_characters",
            "max_duplicate_lines",
            "max_duplicate_line_characters",
        ),
        1.0,
    ),
    "max_top_ngram_characters": (1.0, 1.0, 1.0),
    "max_duplicate_ngram_characters": (1.0,) * 6,
}


def outcome(text: str, **options: object) -> str:
    """Return the reason to drop a text, or "kept"."""
    document = Document(text)
    result = GopherRepetitionRule(**(OFF | options)).apply(document)
    assert isinstance(result, Drop) or result is document
    return result.reason if isinstance(result, Drop) else "kept"


@pytest.mark.parametrize(
    ("text", "option", "share", "reason"),
    [
        # One of four paragraphs, and 3 of 13 characters.
        ("ab\n\ncde\n\nx\n\ncde", "max_duplicate_paragraphs", 1 / 4, "repeated paragraphs"),
        ("ab\n\ncde\n\nx\n\ncde", "max_duplicate_paragraph_characters", 3 / 15, "characters in repeated paragraphs"),
        # Two of five lines, and 4 of 12 characters. Blank lines do not count.
        ("ab\n\ncd\nab\ne\ncd", "max_duplicate_lines", 2 / 5, "repeated lines"),
        ("ab\n\ncd\nab\ne\ncd", "max_duplicate_line_characters", 4 / 14, "characters in repeated lines"),
    ],
)
def test_thresholds_of_lines_and_paragraphs(text: str, option: str, share: float, reason: str):
    assert outcome(text, **{option: share}) == "kept"
    assert outcome(text, **{option: share - 1e-9}) == reason


@pytest.mark.parametrize("n", [2, 3, 4])
def test_thresholds_of_the_most_frequent_ngram(n: int):
    phrase = "aa bb cc dd".split()[:n]
    text = " ".join([*phrase, "x", *phrase, "y", *phrase])
    share = 3 * len(" ".join(phrase)) / len(text)
    levels = [share if size == n else 1.0 for size in (2, 3, 4)]
    assert outcome(text, max_top_ngram_characters=tuple(levels)) == "kept"
    levels[n - 2] -= 1e-9
    assert outcome(text, max_top_ngram_characters=tuple(levels)) == f"most frequent {n}-gram"


@pytest.mark.parametrize("n", range(5, 11))
def test_thresholds_of_repeated_ngrams(n: int):
    phrase = [f"w{i}" for i in range(n)]
    text = " ".join([*phrase, "x", *phrase])
    share = 2 * n / len(text)  # without spaces
    levels = [share if size == n else 1.0 for size in range(5, 11)]
    assert outcome(text, max_duplicate_ngram_characters=tuple(levels)) == "kept"
    levels[n - 5] -= 1e-9
    assert outcome(text, max_duplicate_ngram_characters=tuple(levels)) == f"repeated {n}-grams"


def test_an_empty_text_is_dropped():
    assert outcome("") == "empty"


def test_the_defaults_keep_prose_and_drop_repeated_lines():
    prose = "The cat sat on the mat.\nA dog ran after it.\nThen both of them slept until noon, when the rain began."
    assert GopherRepetitionRule().apply(Document(prose)).__class__ is Document
    assert GopherRepetitionRule().apply(Document("\n".join(["same line"] * 5))) == Drop("repeated lines")


def test_one_level_per_size_is_needed():
    with pytest.raises(BitcipherError, match="max_top_ngram_characters"):
        GopherRepetitionRule(max_top_ngram_characters=(0.2, 0.18))


def top_by_hand(words: list[str], n: int) -> int:
    ngrams = Counter(" ".join(words[start : start + n]) for start in range(len(words) - n + 1))
    ngram, count = ngrams.most_common(1)[0]
    return len(ngram) * count


def duplicates_by_hand(words: list[str], n: int) -> int:
    seen: set[str] = set()
    start = characters = 0
    while start <= len(words) - n:
        ngram = "".join(words[start : start + n])
        if ngram in seen:
            characters += len(ngram)
            start += n
        else:
            seen.add(ngram)
            start += 1
    return characters


# Some n-grams are the same when concatenated: "a" + "bc" and "ab" + "c".
WORDS = st.lists(st.sampled_from(["a", "b", "c", "ab", "bc", "abc", "dd"]), min_size=1, max_size=60)


@given(WORDS, st.integers(1, 10))
def test_characters_of_ngrams_are_those_of_a_plain_implementation(words: list[str], n: int):
    encoded = words_of(" ".join(words))
    assert len(encoded) == len(words)
    if len(words) < n:
        return
    lengths = encoded.table.lengths[encoded.numbers]
    hashes, powers = encoded.table.hashes[encoded.numbers], encoded.table.powers[encoded.numbers]
    ngrams = hashes.copy()
    for size in range(1, n):
        ngrams = ngrams[:-1]
        extend_hashes(ngrams, hashes[size:], powers[size:])
    assert top_ngram_characters(ngrams, encoded.numbers, lengths, n) == top_by_hand(words, n)
    assert duplicate_ngram_characters(ngrams, lengths, n) == duplicates_by_hand(words, n)
