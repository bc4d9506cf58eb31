"""Weighed counts in memory, and their products."""

from collections.abc import Sequence

import numpy as np

from bitcipher.counts.merge import merge_rows
from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.counts.pairs import concatenate
from bitcipher.embedding.spectral.ppmi import WeightedRows, add_up, weigh
from bitcipher.embedding.spectral.transpose import both_ways


class InMemoryProducts:
    """`Products` of rows that are in memory.

    Args:
        rows: pieces of rows, each word in one of them.
    """

    def __init__(self, rows: Sequence[WeightedRows]):
        self._rows = rows

    @classmethod
    def of(cls, counts: MergedCounts, window: int) -> "InMemoryProducts":
        """All rows of a corpus, of offsets up to a radius."""
        vocabulary = counts.vocabulary
        both = concatenate(merge_rows(both_ways(counts, window), vocabulary.row_order(), vocabulary.oov_rank))
        return cls([weigh(both, add_up([both], window, counts.context_window.summed, len(vocabulary)))])

    @property
    def blocks(self) -> int:
        """Offsets, and the window."""
        return len(self._rows[0].starts)

    def around(self, table: np.ndarray, scales: np.ndarray) -> np.ndarray:
        """See `Products`."""
        total = np.zeros_like(table)
        for block, scale in enumerate(scales):
            if scale:
                self.add(block, scale, table, total)
        return total

    def multiply(self, table: np.ndarray, scales: np.ndarray) -> np.ndarray:
        """See `Products`."""
        total = np.zeros_like(table)
        for block, scale in enumerate(scales):
            if scale:
                self.add(block, 1, self.transposed(block, scale, table), total)
        return total

    def transposed(self, block: int, scale: float, table: np.ndarray) -> np.ndarray:
        """A block's transpose times a table, (N, b) float32: what its contexts are told by."""
        result = np.zeros_like(table)
        for rows in self._rows:
            own = result[rows.words]
            rows.add_transposed(block, scale, table, own)
            result[rows.words] = own
        return result

    def add(self, block: int, scale: float, table: np.ndarray, total: np.ndarray) -> None:
        """Add a block times a table to a total, both (N, b) float32."""
        for rows in self._rows:
            own = total[rows.words]
            rows.add(block, scale, table, own)
            total[rows.words] = own
