"""Nearest words of words, and of sums of words: what `bitcipher neighbors` and `bitcipher serve` look up."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from bitcipher.evaluation.case_variants import CaseVariants
from bitcipher.table import Oov
from bitcipher.vectors import CipherVectors
from bitcipher.vectors.similarity import NeighborIndex


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


class NeighborFinder:
    """Nearest words in one table.

    Args:
        vectors: the table.
        indexer: a search for its rows; without one, each query reads the whole table.
    """

    def __init__(self, vectors: CipherVectors, indexer: NeighborIndex | None = None):
        self._vectors = vectors
        self._indexer = indexer

    def find(self, words: Sequence[str], query: NeighborQuery) -> list[WordNeighbors]:
        """Return the nearest words of each word, with the same words added and subtracted.

        Raises:
            UnknownWordError: if a word is unknown, and has no vector from its spelling.
        """
        groups = (words, query.plus, query.minus)
        words, plus, minus = (self._find_words(group, query.case_insensitive) for group in groups)
        return [self._find(word, plus, minus, query) for word in words]

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

    def _find(self, word: str, plus: tuple[str, ...], minus: tuple[str, ...], query: NeighborQuery) -> WordNeighbors:
        unknown = tuple(each for each in dict.fromkeys((word, *plus, *minus)) if each not in self._vectors)
        oov = choose_oov(self._vectors, unknown, query.oov)
        nearest = self._vectors.most_similar([word, *plus], minus, topn=query.topn, indexer=self._indexer, oov=oov)
        neighbors = [Neighbor(other, float(cosine)) for other, cosine in nearest]
        return WordNeighbors(word, plus, minus, unknown if oov == "spelling" else (), neighbors)


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
