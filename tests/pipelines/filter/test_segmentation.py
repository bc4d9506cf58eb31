"""Sentence boundaries of documents."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.filter.segmentation import (
    begins_lower,
    consecutive_spans,
    ends_sentence,
    find_sentences,
    overlapping_spans,
    split_words,
)


def cut(text):
    """Return the sentences of a text."""
    words, paragraph_ends = split_words(text)
    may_end, goes_on = (np.array([tell(word) for word in words], bool) for tell in (ends_sentence, begins_lower))
    pairs = zip(*find_sentences(may_end, goes_on, paragraph_ends), strict=True)
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
def test_sentences(text, expected):
    assert cut(text) == expected


@given(st.lists(st.sampled_from(["a", "A", "b.", "B!", "\n\n", "\n", "Mr.", '"c?"'])))
def test_sentences_are_all_of_a_text_once(pieces):
    assert " ".join(cut(" ".join(pieces))).split() == " ".join(pieces).split()


@given(st.integers(0, 60), st.integers(1, 20), st.data())
def test_overlapping_spans(words, span, data):
    stride = data.draw(st.integers(1, span))
    starts, stops = overlapping_spans(words, span, stride)
    expected = [start for start in range(0, words, stride) if start + span <= words] or [0]
    assert starts.tolist() == expected
    assert stops.tolist() == [min(start + span, words) for start in expected]


@given(st.integers(0, 60), st.integers(1, 20), st.data())
def test_following_spans(words, span, data):
    shortest = data.draw(st.integers(1, span))
    numbers = list(range(words))
    expected = [numbers[start : start + span] for start in range(0, words, span)]
    pairs = zip(*consecutive_spans(words, span, shortest), strict=True)
    assert [numbers[start:stop] for start, stop in pairs] == [each for each in expected if len(each) >= shortest]
