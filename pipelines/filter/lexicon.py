"""What a word of text is to a vocabulary: known or not, and whether a sentence ends with it."""

import re
from collections.abc import Callable

import numpy as np

from bitcipher.word_filter import extract_words
from pipelines.filter.segmentation import begins_lower, ends_sentence

# What is told of a word as it is written, one bit each.
UNKNOWN = 1
IS_WORD = 2
MAY_END = 4
GOES_ON = 8

# As the study's code reads corpora, well-known and here--and are two words each.
_DASHES = re.compile("[-‐‑‒–—―]+")

# Written words whose verdict is kept at a time: some 150 MB, and far more than come again and again.
_CACHED = 1_000_000


def corpus_words(text: str) -> list[str]:
    """The words of text of a corpus that must be known.

    As `extract_words` has them, but names are no exception: the study lower-cases corpora before it looks, and only its
    code for GLUE lets names pass. And what a hyphen or dash joins is several words.

    Examples:
        >>> corpus_words("The well-known Peter's 3 cats")
        ['the', 'well', 'known', 'peters', 'cats']
    """
    return extract_words(_DASHES.sub(" ", text.lower()))


class Lexicon:
    """A vocabulary that remembers what it said of each written word.

    Args:
        words: in lower case, letters alone.
    """

    def __init__(self, words: frozenset[str]):
        self._words = words
        self._verdicts = _Verdicts(self._judge)

    def verdicts(self, written: list[str]) -> np.ndarray:
        """The bits of words as they are written, [words], uint8."""
        if len(self._verdicts) > _CACHED:
            self._verdicts.clear()
        return np.frombuffer(bytes(map(self._verdicts.__getitem__, written)), np.uint8)

    def unknown_in(self, written: str) -> set[str]:
        """The words within what is written that are not in the vocabulary."""
        return set(corpus_words(written)).difference(self._words)

    def _judge(self, written: str) -> int:
        words = corpus_words(written)
        bits = IS_WORD if words else 0
        bits |= 0 if self._words.issuperset(words) else UNKNOWN
        return bits | (MAY_END if ends_sentence(written) else 0) | (GOES_ON if begins_lower(written) else 0)


class _Verdicts(dict[str, int]):
    def __init__(self, judge: Callable[[str], int]):
        super().__init__()
        self._judge = judge

    def __missing__(self, written: str) -> int:
        verdict = self[written] = self._judge(written)
        return verdict
