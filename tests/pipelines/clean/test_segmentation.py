"""Segmentation of documents into sentences and spans."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.clean.segmentation import (
    begins_lower,
    consecutive_spans,
    ends_sentence,
    find_sentences,
    overlapping_spans,
    split_words,
)


def split_sentences(text):
    """Return the sentences of a text."""
    words, paragraph_ends = split_words(text)
    may_end = np.array([ends_sentence(word) for word in words], bool)
    is_lower = np.array([begins_lower(word) for word in words], bool)
    pairs = zip(*find_sentences(may_end, is_lower, paragraph_ends), strict=True)
    return [" ".join(words[start:stop]) for start, stop in pairs]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He ran. She sat.", ["He ran.", "She sat."]),
        ('"Stop!" he said. "Why?" "So."', ['"Stop!" he said.', '"Why?"', '"So."']),
        ("Mr. Fox met Dr. J. R. Owl of the U.S. army.", ["Mr. Fox met Dr. J. R. Owl of the U.S. army."]),
        ("A line\nbroken at 70 columns. And on", ["A line broken at 70 columns.", "And on"]),
        ("A heading\n\nIts text", ["A heading", "Its text"]),
        ("A heading\r\n \r\nIts text\n\n", ["A heading", "Its text"]),
        ("Well… (He left.) _Never!_ Go", ["Well…", "(He left.)", "_Never!_", "Go"]),
        ("أين القط؟ القط هنا. نعم", ["أين القط؟", "القط هنا.", "نعم"]),
        ("... .", ["...", "."]),
        ("", []),
    ],
)
def test_sentence_boundaries(text, expected):
    assert split_sentences(text) == expected


@given(st.lists(st.sampled_from(["a", "A", "b.", "B!", "\n\n", "\n", "Mr.", '"c?"'])))
def test_sentences_contain_all_words_once(pieces):
    assert " ".join(split_sentences(" ".join(pieces))).split() == " ".join(pieces).split()


@given(st.integers(0, 60), st.integers(1, 20), st.data())
def test_overlapping_spans_match_their_definition(words, span, data):
    stride = data.draw(st.integers(1, span))
    starts, stops = overlapping_spans(words, span, stride)
    expected = [start for start in range(0, words, stride) if start + span <= words] or [0]
    assert starts.tolist() == expected
    assert stops.tolist() == [min(start + span, words) for start in expected]


@given(st.integers(0, 60), st.integers(1, 20), st.data())
def test_consecutive_spans_match_their_definition(words, span, data):
    min_words = data.draw(st.integers(1, span))
    numbers = list(range(words))
    expected = [numbers[start : start + span] for start in range(0, words, span)]
    pairs = zip(*consecutive_spans(words, span, min_words), strict=True)
    assert [numbers[start:stop] for start, stop in pairs] == [each for each in expected if len(each) >= min_words]
