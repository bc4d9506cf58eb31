"""`Spelling`: vectors of words from their character n-grams."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bitcipher.errors import BitcipherError
from bitcipher.spelling.incidence import NgramIndex, find_incidence
from bitcipher.spelling.ngrams import hash_ngram, list_ngrams, spell_ngrams
from bitcipher.spelling.ridge import fit_ridge
from bitcipher.vocabulary import OOV

# Minimum and maximum number of characters of an n-gram.
LENGTHS = (3, 6)

# Minimum number of words that have an n-gram.
MIN_WORDS = 4

# Factor of the penalty of the regression.
PENALTY = 5.0

# Words are weighted by n / (n + SMALL_COUNT) with their count n, because vectors of rare words are inexact.
SMALL_COUNT = 20

# The share of the spelling in the vector of a word is halfway between its minimum and 1 at this count.
RARE_COUNT = 500

# The regression uses this number of the most frequent words, so its cost does not grow with the vocabulary.
FIT_WORDS = 100_000

HASHES, VECTORS, LENGTH_RANGE = "spelling_hashes", "spelling_vectors", "spelling_lengths"
SHARE, RARE = "spelling_share", "spelling_rare_count"


class NgramPart(NamedTuple):
    """Part of an n-gram in the vector that a word's spelling gives."""

    ngram: str
    """The n-gram, with `<` before the word and `>` after it."""
    vector: np.ndarray
    """(d,) float32. The parts of a word add up to a vector of length 1."""


@dataclass(frozen=True, eq=False)
class Spelling:
    """Vectors of words from their character n-grams, fitted to the vectors of known words.

    Attributes:
        hashes: (g,) int64, hashes of the n-grams, ascending.
        vectors: (g, d) float16.
        lengths: minimum and maximum number of characters of an n-gram.
        share: length of the part from the spelling in the vector of a frequent word, above 0 and at most 1, relative
            to the part from its contexts.
        rare_count: the share of a word with the count n is share + (1 - share) · rare_count / (n + rare_count),
            because contexts of rare words say less. At least 0.
    """

    hashes: np.ndarray
    vectors: np.ndarray
    lengths: tuple[int, int]
    share: float
    rare_count: int = RARE_COUNT

    @classmethod
    def fit(
        cls, words: pa.LargeStringArray, vectors: np.ndarray, counts: np.ndarray | None, share: float, threads: int = 1
    ) -> "Spelling":
        """Fit n-gram vectors to the vectors of words. The result does not depend on the number of threads.

        `<oov>` and words with a zero vector have no influence.

        Args:
            words: (n,) words, most frequent first. The first `FIT_WORDS` are used.
            vectors: (n, d) float32, vectors of length 1.
            counts: (n,) int64, occurrences of each word, or None for equal weights.
            share: see `Spelling`.
            threads: number of threads.
        """
        words, vectors = words.slice(0, FIT_WORDS), np.asarray(vectors[:FIT_WORDS])
        certainty = 1 if counts is None else counts[:FIT_WORDS] / (counts[:FIT_WORDS] + SMALL_COUNT)
        ngrams = list_ngrams(words, LENGTHS)
        hashes, number_of_words = np.unique(ngrams.hashes, return_counts=True)
        hashes = hashes[number_of_words >= MIN_WORDS]
        has_spelling = vectors.any(axis=1) & ~np.asarray(pc.equal(words, OOV))
        weights = np.where(has_spelling, certainty, 0).astype(np.float32)
        fitted = fit_ridge(find_incidence(ngrams, NgramIndex.of_hashes(hashes)), vectors, weights, PENALTY, threads)
        return cls(hashes, fitted.astype(np.float16), LENGTHS, share)

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray] | None) -> "Spelling | None":
        """Return the spelling that is stored with vectors, or None if there is none.

        Raises:
            BitcipherError: if the arrays are damaged.
        """
        if not arrays or HASHES not in arrays:
            return None
        try:
            hashes, vectors = arrays[HASHES], arrays[VECTORS]
            shortest, longest = arrays[LENGTH_RANGE].tolist()
            (share,), (rare_count,) = arrays[SHARE].tolist(), arrays[RARE].tolist()
        except (KeyError, ValueError, TypeError):
            raise _damaged() from None
        is_table = vectors.dtype == np.float16 and vectors.ndim == 2 and hashes.shape == (len(vectors),)
        if not is_table or hashes.dtype != np.int64 or not (hashes[1:] > hashes[:-1]).all():
            raise _damaged()
        if not (isinstance(longest, int) and 1 <= shortest <= longest and 0 < share <= 1):
            raise _damaged()
        if not (isinstance(rare_count, int) and rare_count >= 0):
            raise _damaged()
        return cls(hashes, vectors, (shortest, longest), share, rare_count)

    @classmethod
    def require(cls, arrays: dict[str, np.ndarray] | None, word: str) -> "Spelling":
        """Return the spelling that is stored with vectors.

        Args:
            arrays: arrays that are stored with the vectors.
            word: an unknown word that needs a vector, for the error message.

        Raises:
            BitcipherError: if there is none, or it is damaged.
        """
        spelling = cls.from_arrays(arrays)
        if spelling is None:
            raise BitcipherError(
                f"The vectors have no n-grams, which the unknown word {word!r} needs: make them with a "
                "`spelling_share` above 0, or do not ask for vectors of unknown words by spelling."
            )
        return spelling

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays to store with vectors."""
        return {
            HASHES: self.hashes,
            VECTORS: self.vectors,
            LENGTH_RANGE: np.array(self.lengths, np.int64),
            SHARE: np.array([self.share], np.float64),
            RARE: np.array([self.rare_count], np.int64),
        }

    def predict(self, words: Sequence[str] | pa.LargeStringArray) -> np.ndarray:
        """Return vectors of length 1 from the spelling of words, (n, d) float32; zeros without known n-grams."""
        incidence = find_incidence(list_ngrams(pa.array(words, pa.large_string()), self.lengths), self._index)
        if len(incidence.indices) >= len(self.hashes):
            return _unit_rows(incidence.multiply(self._table))
        used, indices = np.unique(incidence.indices, return_inverse=True)
        incidence = incidence._replace(indices=indices.astype(np.int32), columns=len(used))
        return _unit_rows(incidence.multiply(self.vectors[used].astype(np.float32)))

    def shares(self, counts: np.ndarray | None) -> np.ndarray | np.float32:
        """Return the share of the spelling in the vectors of words, (n, 1) float32; the same for all without counts.

        Args:
            counts: (n,) int64, occurrences of each word, or None if they are unknown.
        """
        if counts is None:
            return np.float32(self.share)
        rarity = self.rare_count / np.maximum(counts + self.rare_count, 1)
        return (self.share + (1 - self.share) * rarity).astype(np.float32)[:, None]

    def add_to(self, rows: np.ndarray, words: pa.LargeStringArray, counts: np.ndarray | None) -> np.ndarray:
        """Return the vectors of known words: unit(context + share · spelling), (n, d) float32. Zero vectors stay zero.

        Args:
            rows: (n, d) float32, vectors of length 1 from the contexts of the words.
            words: (n,) the words. `<oov>` keeps its vector, because it has no spelling.
            counts: see `shares`.
        """
        return _unit_rows(rows + self._spelled(rows, words, counts))

    def remove_from(
        self, rows: np.ndarray, words: pa.LargeStringArray, counts: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the vectors of the contexts: the inverse of `add_to`. It is unique because shares are at most 1.

        Args:
            rows: (n, d) float32, vectors that `add_to` returned.
            words: (n,) the words.
            counts: see `shares`.

        Returns:
            The vectors of length 1 from the contexts, (n, d) float64, and the lengths of their sums with the spelling,
            which `add_to` divided by, (n,) float64.
        """
        spelled = self._spelled(rows, words, counts).astype(np.float64)
        along = np.einsum("ij,ij->i", rows, spelled)
        # The context has length 1: |length · row - share · spelling|² = 1.
        lengths = along + np.sqrt(np.maximum(0, 1 + along**2 - np.einsum("ij,ij->i", spelled, spelled)))
        return lengths[:, None] * rows - spelled, lengths

    def parts(self, word: str) -> list[NgramPart]:
        """Return the parts of the known n-grams of a word. They add up to the vector that `predict` returns.

        Args:
            word: any string.
        """
        ngrams = spell_ngrams(word, self.lengths)
        hashes = np.array([*map(hash_ngram, ngrams)], np.int64)
        columns = np.searchsorted(self.hashes, hashes)
        known = columns < len(self.hashes)
        known[known] = self.hashes[columns[known]] == hashes[known]
        vectors = self.vectors[columns[known]].astype(np.float32)
        # If the vectors cancel, `predict` returns zeros, too.
        length = np.linalg.norm(vectors.sum(axis=0, dtype=np.float64)) or np.inf
        names = [ngram for ngram, is_known in zip(ngrams, known, strict=True) if is_known]
        return [
            NgramPart(name, (vector / length).astype(np.float32)) for name, vector in zip(names, vectors, strict=True)
        ]

    def _spelled(self, rows: np.ndarray, words: pa.LargeStringArray, counts: np.ndarray | None) -> np.ndarray:
        """Return share · spelling of each word, (n, d) float32; zeros for `<oov>` and words with a zero vector."""
        spelled = self.predict(words) * self.shares(counts)
        spelled[~rows.any(axis=1) | np.asarray(pc.equal(words, OOV))] = 0
        return spelled

    @cached_property
    def _index(self) -> NgramIndex:
        return NgramIndex.of_hashes(self.hashes)

    @cached_property
    def _table(self) -> np.ndarray:
        """Vectors of all n-grams, which few words do not need, (g, d) float32."""
        return self.vectors.astype(np.float32)


def _unit_rows(rows: np.ndarray) -> np.ndarray:
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))[:, None]
    return np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0, casting="same_kind")


def _damaged() -> BitcipherError:
    return BitcipherError("The n-grams of the vectors are damaged: fetch or build the vectors again.")
