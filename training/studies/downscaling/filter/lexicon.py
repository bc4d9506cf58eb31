"""Lexicon: classification of tokens by a vocabulary, and by whether a sentence can begin or end with them."""

from collections.abc import Callable

import numpy as np

from pipelines.clean.segmentation import begins_lower, ends_sentence
from pipelines.clean.word_filter import extract_corpus_words

# Flags of a token, one bit each: it has an unknown word, it has a word, it can end a sentence, it begins with a
# lowercase letter.
UNKNOWN = 1
HAS_WORD = 2
MAY_END = 4
BEGINS_LOWER = 8

# Maximum number of tokens in the cache: about 150 MB, and more than the number of tokens that occur often.
_MAX_CACHED = 1_000_000


class Lexicon:
    """Classifier of tokens by a vocabulary, with a cache.

    Args:
        words: the vocabulary: lowercase words of letters.
    """

    def __init__(self, words: frozenset[str]):
        self._words = words
        self._flags = _FlagCache(self._classify)

    def classify(self, tokens: list[str]) -> np.ndarray:
        """Return the flags of each token (UNKNOWN, HAS_WORD, …), (tokens,) uint8."""
        if len(self._flags) > _MAX_CACHED:
            self._flags.clear()
        return np.frombuffer(bytes(map(self._flags.__getitem__, tokens)), np.uint8)

    def unknown_in(self, token: str) -> set[str]:
        """Return the words of a token that are not in the vocabulary."""
        return set(extract_corpus_words(token)).difference(self._words)

    def _classify(self, token: str) -> int:
        words = extract_corpus_words(token)
        bits = HAS_WORD if words else 0
        bits |= 0 if self._words.issuperset(words) else UNKNOWN
        return bits | (MAY_END if ends_sentence(token) else 0) | (BEGINS_LOWER if begins_lower(token) else 0)


class _FlagCache(dict[str, int]):
    def __init__(self, classify: Callable[[str], int]):
        super().__init__()
        self._classify = classify

    def __missing__(self, token: str) -> int:
        flags = self[token] = self._classify(token)
        return flags
