"""Explanations of a table, by the counts that it was made of."""

from collections.abc import Sequence

import numpy as np

from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.embedding import CipherEmbedding
from bitcipher.errors import BitcipherError
from bitcipher.explain.cipher_contributions import CipherContributions
from bitcipher.explain.contributions import Contribution, DimensionShare, Explanation, mean_of
from bitcipher.explain.spectral_contributions import SpectralContributions
from bitcipher.rows import check_belonging, provenance_of
from bitcipher.vectors.lookup import WordLookup
from bitcipher.vectors.lookup_errors import Key


class Explainer:
    """Tells which context words put the vectors of a table where they are.

    Args:
        vectors: a table of a build, of mode cat, sum or spectral.
        counts: what it was made of, see `pipelines.embed.vectors_with_counts`.
        only: words or row numbers, if no others will be asked for: then less is read and kept.

    Raises:
        UnknownProvenanceError: if the table does not say how it was made, or is of mode cipher.
        BitcipherError: if it was made of other counts.
        UnknownWordError: if a word has no row.
    """

    def __init__(self, vectors: WordLookup, counts: MergedCounts, only: Sequence[Key] | None = None):
        check_belonging(vectors, counts)
        self._origin = provenance_of(vectors, "explained")
        self._vectors = vectors
        chosen = None if only is None else np.array([vectors.get_index(key) for key in only], np.int64)
        kind = CipherContributions if isinstance(self._origin.embedding, CipherEmbedding) else SpectralContributions
        self._parts: CipherContributions | SpectralContributions = kind(vectors, self._origin, counts, chosen)

    def explain(self, word: Key, other: Key | None = None, topn: int = 10) -> Explanation:
        """The parts of the similarity of two words, or of a word's with itself.

        Args:
            word: a word or a row number.
            other: likewise; what is told is then the mean of both sides, so it is the same either way round.
            topn: contributions to tell one by one.

        Raises:
            UnknownWordError: if a word has no row.
        """
        row, other_row = self._rows(word, other)
        parts = self._parts.parts(row, other_row)
        if other_row != row:
            parts = mean_of(parts, self._parts.parts(other_row, row))
        words = self._vectors.index_to_key
        contributions, rest = parts.strongest(topn, words)
        return Explanation(
            tuple(words[each] for each in dict.fromkeys((row, other_row))), parts.total, contributions, rest
        )

    def dimensions(
        self, word: Key, other: Key | None = None, topn: int = 10, topn_contexts: int = 5
    ) -> list[DimensionShare]:
        """What the dimensions add to the similarity of a word with another's direction, or with its own.

        Args:
            word: a word or a row number; the context words told are those around it.
            other: likewise.
            topn: dimensions to tell, those that add or take most.
            topn_contexts: context words to tell of each.

        Raises:
            BitcipherError: if the table is of mode spectral.
            UnknownWordError: if a word has no row.
        """
        if not isinstance(self._parts, CipherContributions):
            raise BitcipherError(
                "A dimension of spectral vectors stands for no offset and no bit: explain them by context word."
            )
        return self._parts.dimensions(*self._rows(word, other), topn, topn_contexts)

    def strongest(self, rows: Sequence[int], topn: int = 8) -> list[list[Contribution]]:
        """For each of some rows of the table, the contributions that add or take most of its similarity with itself.

        Raises:
            UnknownWordError: if there is no such row.
        """
        found = np.array([self._vectors.get_index(row) for row in rows], np.int64)
        return self._parts.strongest(found, topn) if len(found) else []

    def _rows(self, word: Key, other: Key | None) -> tuple[int, int]:
        row = self._vectors.get_index(word)
        return row, row if other is None else self._vectors.get_index(other)


def explain(
    vectors: WordLookup, counts: MergedCounts, word: Key, other: Key | None = None, topn: int = 10
) -> Explanation:
    """One explanation; see `Explainer`, which is faster for many."""
    words = [word] if other is None else [word, other]
    return Explainer(vectors, counts, words).explain(word, other, topn)
