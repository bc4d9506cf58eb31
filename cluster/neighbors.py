"""Nearest words of words, and of sums of words: what `bitcipher neighbors` and `bitcipher serve` look up."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bitcipher.evaluation.case_variants import CaseVariants
from bitcipher.table.keys import Oov
from bitcipher.vectors.cipher_vectors import CipherVectors


@dataclass(frozen=True)
class Neighbor:
    """A word and its cosine with the vector of a query."""

    word: str
    cosine: float


@dataclass(frozen=True)
class NeighborQuery:
    """What is added to each word, and how unknown words are treated."""

    plus: tuple[str, ...]
    minus: tuple[str, ...]
    topn: int
    """Number of neighbors."""
    oov: Oov | None
    """Vectors of unknown words; None for their spelling if the vectors have n-grams, else an error."""
    case_insensitive: bool
    """Whether the most frequent word that differs in case replaces an unknown word."""


@dataclass(frozen=True)
class WordNeighbors:
    """The nearest words of a word, or of a sum of words."""

    word: str
    plus: tuple[str, ...]
    minus: tuple[str, ...]
    from_spelling: tuple[str, ...]
    """Those of these words that are unknown, and whose vectors were made from their n-grams."""
    neighbors: list[Neighbor]
    """Empty if the vector is zero."""


@dataclass(frozen=True)
class NeighborSearch:
    """The search for the nearest words of a word, or of a sum of words."""

    word: str
    plus: tuple[str, ...]
    minus: tuple[str, ...]
    from_spelling: tuple[str, ...]
    topn: int
    oov: Oov
    vector: np.ndarray
    """(d,) float32, of length 1 or 0."""

    @property
    def rows(self) -> int:
        """Number of nearest rows that are needed, with those of the words themselves."""
        return self.topn + 1 + len(self.plus) + len(self.minus)


class NeighborFinder:
    """Nearest words in one table.

    Args:
        vectors: the table.
    """

    def __init__(self, vectors: CipherVectors):
        self._vectors = vectors

    def find(self, words: Sequence[str], query: NeighborQuery) -> list[WordNeighbors]:
        """Return the nearest words of each word, with the same words added and subtracted. Each reads the table.

        Raises:
            UnknownWordError: if a word is unknown, and has no vector from its spelling.
        """
        return [self.answer(self.prepare(word, query)) for word in words]

    def prepare(self, word: str, query: NeighborQuery) -> NeighborSearch:
        """Return the search for the nearest words of a word.

        Raises:
            UnknownWordError: if a word is unknown, and has no vector from its spelling.
        """
        groups = ((word,), query.plus, query.minus)
        (word,), plus, minus = (self._find_words(group, query.case_insensitive) for group in groups)
        unknown = tuple(each for each in dict.fromkeys((word, *plus, *minus)) if each not in self._vectors)
        oov = choose_oov(self._vectors, unknown, query.oov)
        keys, weights = [word, *plus, *minus], [1.0] * (1 + len(plus)) + [-1.0] * len(minus)
        vector = self._vectors.get_mean_vector(keys, weights, post_normalize=True, ignore_missing=False, oov=oov)
        return NeighborSearch(word, plus, minus, unknown if oov == "spelling" else (), query.topn, oov, vector)

    def answer(self, search: NeighborSearch, rows: np.ndarray | None = None) -> WordNeighbors:
        """Return the nearest words that a search asks for.

        Args:
            search: the search.
            rows: rows that contain the nearest `search.rows`, (n,) int64, ascending; without them, the table is read.
        """
        words, index = [search.word, *search.plus], None if rows is None else _FoundRows(rows)
        found = self._vectors.most_similar(words, search.minus, topn=search.topn, indexer=index, oov=search.oov)
        neighbors = [Neighbor(other, float(cosine)) for other, cosine in found]
        return WordNeighbors(search.word, search.plus, search.minus, search.from_spelling, neighbors)

    def prepare_variants(self) -> None:
        """Make the table of words that differ in case, which takes seconds for a million words."""
        _ = self._variants

    def _find_words(self, words: Sequence[str], case_insensitive: bool) -> tuple[str, ...]:
        """Return the words, and for an unknown one the most frequent word that differs only in case, if allowed."""
        if not case_insensitive:
            return tuple(words)
        return tuple(word if word in self._vectors else self._find_variant(word) for word in words)

    def _find_variant(self, word: str) -> str:
        return self._vectors.index_to_key[self._variants.row(word)] if word in self._variants else word

    @cached_property
    def _variants(self) -> CaseVariants:
        return CaseVariants(self._vectors.index_to_key, True, self._vectors.normalize_key)


class _FoundRows:
    """Index for `most_similar` whose search has been made."""

    def __init__(self, rows: np.ndarray):
        self._rows = rows

    def nearest(self, query: np.ndarray, topn: int) -> np.ndarray:
        return self._rows


def choose_oov(vectors: CipherVectors, unknown: Sequence[str], oov: Oov | None) -> Oov:
    """Return the vectors of unknown words: by default, those from their spelling if all have known n-grams.

    Args:
        vectors: the table.
        unknown: words that it lacks.
        oov: the vectors that were asked for, if any.
    """
    if oov is not None:
        return oov
    if not unknown or vectors.spelling is None:
        return False
    spelled = vectors.spelling.predict([vectors.normalize_key(word) for word in unknown])
    return "spelling" if spelled.any(axis=1).all() else False
