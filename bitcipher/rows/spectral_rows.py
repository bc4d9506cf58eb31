"""`SpectralRows`: weighted rows of mode spectral, with lookup by word."""

from typing import NamedTuple

import numpy as np

from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.embedding.spectral.operand import Operand
from bitcipher.embedding.spectral.ppmi import Marginals, compute_marginals, weight_rows
from bitcipher.rows.symmetric_counts import stream_marginals, symmetric_counts


class WeightedPairs(NamedTuple):
    """Pairs of a word in one block of the weighted matrix (one offset, or the whole window).

    Attributes:
        contexts: (n,) int64, ranks of the context words.
        weights: (n,) float32, PPMI weights of the pairs.
    """

    contexts: np.ndarray
    weights: np.ndarray


class SpectralRows:
    """Rows of the weighted matrix (see `bitcipher.embedding.spectral.ppmi`) with lookup by word.

    Args:
        counts: counts of a corpus.
        window: the largest offset of a context word.
        columns: (N,) int32, the column of each word as a context word, or -1.
        selected: (N,) bool, the words whose rows are needed, by default all.

    Attributes:
        rows: the weighted rows of the selected words.
        marginals: number of pairs of each word of the vocabulary.
        row_of_rank: (N,) int64, index of each word in `rows`, or -1.
        rank_of_column: (C,) int64, rank of the word of each column, or -1.
    """

    def __init__(self, counts: MergedCounts, window: int, columns: np.ndarray, selected: np.ndarray | None = None):
        words = len(counts.vocabulary)
        pairs = symmetric_counts(counts, window, selected)
        self.marginals: Marginals = (
            compute_marginals([pairs], window, counts.context_window.summed, words)
            if selected is None
            else stream_marginals(counts, window)
        )
        self.rows = weight_rows(pairs, self.marginals, columns)
        self.row_of_rank = np.full(words, -1)
        self.row_of_rank[self.rows.words] = np.arange(len(self.rows.words))
        self.rank_of_column = np.full(int(columns.max(initial=-1)) + 1, -1)
        ranks = np.flatnonzero(columns >= 0)
        self.rank_of_column[columns[ranks]] = ranks

    @property
    def blocks(self) -> int:
        """Number of blocks: one per offset, and one for the whole window."""
        return len(self.rows.starts)

    def offset_of(self, block: int) -> int:
        """Return the offset of a block, 0 for the window block."""
        window = (self.blocks - 1) // 2
        return 0 if block == self.blocks - 1 else int(block) - window + int(block >= window)

    def pairs(self, rank: int, block: int) -> WeightedPairs:
        """Return the weighted pairs of a word in a block, possibly none."""
        row = self.row_of_rank[rank]
        pairs = slice(0, 0) if row < 0 else slice(*self.rows.starts[block, row : row + 2])
        return WeightedPairs(self.rank_of_column[self.rows.contexts[pairs]], self.rows.weights[pairs])

    def context_vectors(self, block: int, table: np.ndarray) -> np.ndarray:
        """Return Mⱼᵀ · table for the block j: the vectors of the words in `rows` as context words.

        Args:
            block: the block j.
            table: (landmarks, d) floats.

        Returns:
            (n, d), one row per word in `rows`, of the dtype of the table.
        """
        result = np.zeros((len(self.rows.words), table.shape[1]), table.dtype)
        self.rows.add_transposed(block, 1, Operand.exact(table), np.arange(len(result)), result)
        return result
