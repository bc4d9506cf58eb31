"""`Explainer`: explains vectors by the counts that they were made from."""

from collections.abc import Iterator, Sequence

import numpy as np

from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.embedding.cipher_embedding import CipherEmbedding
from bitcipher.errors import BitcipherError
from bitcipher.explain.cipher_contributions import CipherContributions
from bitcipher.explain.contributions import Contribution, DimensionShare, Explanation, average
from bitcipher.explain.explained_vectors import ExplainedVectors
from bitcipher.explain.spectral_contributions import SpectralContributions
from bitcipher.rows.context_vectors import ContextVectors
from bitcipher.rows.provenance import check_counts_match, read_provenance
from bitcipher.table.keys import Key
from bitcipher.table.vector_table import VectorTable


class Explainer:
    """Explanations of the vectors of a build by the contributions of context words, and of n-grams if there are any.

    Args:
        vectors: vectors of a build, of mode cat, sum or spectral.
        counts: the counts that they were made from, see `bitcipher.stored_build.Build.counts_of_vectors`.
        only: words or row numbers whose counts are read at once. Those of other words are read when they are needed.
        context_vectors: those of the folder of the vectors, in mode spectral. Without them, all counts are read.

    Raises:
        UnknownProvenanceError: if the vectors do not record how they were made, or are of mode cipher.
        BitcipherError: if the vectors were made from other counts.
        UnknownWordError: if a word has no row.
    """

    def __init__(
        self,
        vectors: VectorTable,
        counts: MergedCounts,
        only: Sequence[Key] | None = None,
        context_vectors: ContextVectors | None = None,
    ):
        check_counts_match(vectors, counts)
        provenance = read_provenance(vectors, "explained")
        self._vectors = vectors
        rows = None if only is None else np.array([vectors.get_index(key) for key in only], np.int64)
        explained = ExplainedVectors(vectors, provenance, counts, rows, context_vectors)
        embedding = provenance.embedding
        self._contributions = (
            CipherContributions(explained, embedding)
            if isinstance(embedding, CipherEmbedding)
            else SpectralContributions(explained, embedding)
        )

    def open_index(self, folder: str) -> bool:
        """Find the counts of words in an index from now on, if a folder has the one of these vectors.

        Args:
            folder: local folder of the index.

        Returns:
            Whether the folder has the index.

        Raises:
            BitcipherError: if the vectors are not of mode spectral, or the index is damaged.
        """
        return self._indexed_contributions().open_index(folder)

    def write_index(self, folder: str) -> None:
        """Write an index of the weighted pairs of all words, 8 bytes per pair, from which explanations are faster.

        Args:
            folder: local folder of the index. One of other vectors is replaced.

        Raises:
            BitcipherError: if the vectors are not of mode spectral, or the folder cannot be written.
        """
        self._indexed_contributions().write_index(folder)

    def _indexed_contributions(self) -> SpectralContributions:
        if not isinstance(self._contributions, SpectralContributions):
            raise BitcipherError("Only explanations of vectors of mode spectral have an index: explain these without.")
        return self._contributions

    def explain(self, word: Key, other: Key | None = None, topn: int = 10) -> Explanation:
        """Return the contributions to the similarity of two words, or of a word with itself.

        Args:
            word: a word or a row number.
            other: another word or row number. The result is then the mean of both words' explanations, so it does not
                depend on their order.
            topn: number of contributions of context words, and of n-grams, to list.

        Raises:
            UnknownWordError: if a word has no row.
        """
        row, other_row = self._rows(word, other)
        contributions = self._contributions.arrays(row, other_row)
        if other_row != row:
            contributions = average(contributions, self._contributions.arrays(other_row, row))
        words = self._vectors.index_to_key
        strongest, rest = contributions.strongest(topn, words)
        ngrams, rest_of_ngrams = contributions.strongest_ngrams(topn)
        explained = tuple(words[each] for each in dict.fromkeys((row, other_row)))
        return Explanation(explained, contributions.total, strongest, ngrams, rest + rest_of_ngrams)

    def dimensions(
        self, word: Key, other: Key | None = None, topn: int = 10, topn_contexts: int = 5
    ) -> list[DimensionShare]:
        """Return the contributions of dimensions to the similarity of a word with another, or with itself.

        Args:
            word: a word or a row number. The listed context words are those of this word.
            other: another word or row number.
            topn: number of dimensions to list, by absolute weight.
            topn_contexts: number of context words to list for each dimension.

        Raises:
            BitcipherError: if the vectors are of mode spectral.
            UnknownWordError: if a word has no row.
        """
        if not isinstance(self._contributions, CipherContributions):
            raise BitcipherError(
                "A dimension of spectral vectors has no offset and no bit: explain these vectors by context word."
            )
        return self._contributions.dimensions(*self._rows(word, other), topn, topn_contexts)

    def strongest(self, rows: Sequence[int], topn: int = 8) -> Iterator[list[Contribution]]:
        """Yield the strongest contributions to the similarity of each of some rows with itself.

        Many rows should be given at once, because all counts are read for as many of them as fit in memory.

        Raises:
            UnknownWordError: if there is no such row.
        """
        return self._contributions.strongest(np.array([self._vectors.get_index(row) for row in rows], np.int64), topn)

    def _rows(self, word: Key, other: Key | None) -> tuple[int, int]:
        row = self._vectors.get_index(word)
        return row, row if other is None else self._vectors.get_index(other)


def explain(
    vectors: VectorTable,
    counts: MergedCounts,
    word: Key,
    other: Key | None = None,
    topn: int = 10,
    context_vectors: ContextVectors | None = None,
) -> Explanation:
    """Return one explanation, like `Explainer.explain`. For many explanations, an `Explainer` is faster."""
    words = [word] if other is None else [word, other]
    return Explainer(vectors, counts, words, context_vectors).explain(word, other, topn)
