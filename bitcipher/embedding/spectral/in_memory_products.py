"""`InMemoryProducts`: products with weighted counts that fit into memory."""

from collections.abc import Sequence

import numpy as np

from bitcipher.counts.merge import merge_rows
from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.counts.pairs import concatenate
from bitcipher.embedding.spectral.ppmi import WeightedRows, compute_marginals, weight_rows
from bitcipher.embedding.spectral.transpose import forward_and_backward


class InMemoryProducts:
    """Implementation of `Products` with the whole weighted matrix in memory.

    Args:
        rows: groups of rows of the matrix. Each word is in exactly one group.
    """

    def __init__(self, rows: Sequence[WeightedRows]):
        self._rows = rows

    @classmethod
    def from_counts(cls, counts: MergedCounts, window: int) -> "InMemoryProducts":
        """Return the products with the weighted counts of a corpus, for offsets up to `window`."""
        vocabulary = counts.vocabulary
        pairs = concatenate(
            merge_rows(forward_and_backward(counts, window), vocabulary.row_order(), vocabulary.oov_rank)
        )
        marginals = compute_marginals([pairs], window, counts.context_window.summed, len(vocabulary))
        return cls([weight_rows(pairs, marginals)])

    @property
    def blocks(self) -> int:
        """Number of blocks of the weighted matrix: one per offset, and one for the whole window."""
        return len(self._rows[0].starts)

    def project(self, table: np.ndarray, scales: np.ndarray) -> np.ndarray:
        """Return Σⱼ scaleⱼ · Mⱼ · table over the blocks j, see `Products.project`."""
        total = np.zeros_like(table)
        for block, scale in enumerate(scales):
            if scale:
                self.add(block, scale, table, total)
        return total

    def gram_product(self, table: np.ndarray, scales: np.ndarray) -> np.ndarray:
        """Return Σⱼ scaleⱼ · Mⱼ · Mⱼᵀ · table over the blocks j, see `Products.gram_product`."""
        total = np.zeros_like(table)
        for block, scale in enumerate(scales):
            if scale:
                self.add(block, 1, self.transposed_product(block, scale, table), total)
        return total

    def transposed_product(self, block: int, scale: float, table: np.ndarray) -> np.ndarray:
        """Return scale · Mⱼᵀ · table for the block j, (N, b) float32."""
        result = np.zeros_like(table)
        for rows in self._rows:
            group = result[rows.words]
            rows.add_transposed(block, scale, table, group)
            result[rows.words] = group
        return result

    def add(self, block: int, scale: float, table: np.ndarray, total: np.ndarray) -> None:
        """Add scale · Mⱼ · table to `total` for the block j. Both arrays are (N, b) float32."""
        for rows in self._rows:
            group = total[rows.words]
            rows.add(block, scale, table, group)
            total[rows.words] = group
