"""`SpectralRows`: weighted rows of mode spectral, with lookup by word."""

from typing import NamedTuple

import numpy as np

from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.embedding.spectral.ppmi import Marginals, offset_of, weight_rows
from bitcipher.rows.symmetric_counts import symmetric_counts


class WeightedPairs(NamedTuple):
    """Pairs of a word in one block of the weighted matrix (one offset, or the whole window).

    Attributes:
        columns: (n,) int32, columns of the context words.
        weights: (n,) float32, PPMI weights of the pairs.
    """

    columns: np.ndarray
    weights: np.ndarray


class SpectralRows:
    """Rows of the weighted matrix (see `bitcipher.embedding.spectral.ppmi`) with lookup by word.

    Args:
        counts: counts of a corpus.
        window: the largest offset of a context word.
        columns: (N,) int32, the column of each word as a context word, or -1.
        marginals: number of pairs of each word of the vocabulary.
        selected: (N,) bool, the words whose rows are needed.

    Attributes:
        rows: the weighted rows of the selected words.
        row_of_rank: (N,) int64, index of each word in `rows`, or -1.
        rank_of_column: (C,) int64, rank of the word of each column, or -1.
    """

    def __init__(
        self, counts: MergedCounts, window: int, columns: np.ndarray, marginals: Marginals, selected: np.ndarray
    ):
        pairs = symmetric_counts(counts, window, selected)
        # Only the words of these pairs are numbered, because the terms of all words take much time and memory.
        used = np.zeros(len(columns), bool)
        used[pairs.left] = used[pairs.right] = True
        words = np.flatnonzero(used)
        numbers = np.cumsum(used, dtype=np.int32) - np.int32(1)
        pairs = pairs._replace(left=numbers[pairs.left], right=numbers[pairs.right])
        rows = weight_rows(pairs, marginals.take(words), columns[words])
        self.rows = rows._replace(words=words[rows.words].astype(np.int32))
        self.row_of_rank = np.full(len(columns), -1)
        self.row_of_rank[self.rows.words] = np.arange(len(self.rows.words))
        self.rank_of_column = np.full(int(columns.max(initial=-1)) + 1, -1)
        ranks = np.flatnonzero(columns >= 0)
        self.rank_of_column[columns[ranks]] = ranks

    def offset_of(self, block: int) -> int:
        """Return the offset of a block, 0 for the window block."""
        return offset_of(int(block), len(self.rows.starts))

    def pairs(self, rank: int, block: int) -> WeightedPairs:
        """Return the weighted pairs of a word in a block, possibly none."""
        row = self.row_of_rank[rank]
        pairs = slice(0, 0) if row < 0 else slice(*self.rows.starts[block, row : row + 2])
        return WeightedPairs(self.rows.contexts[pairs], self.rows.weights[pairs])
