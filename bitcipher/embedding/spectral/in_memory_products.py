"""`InMemoryProducts`: products with weighted counts that fit into memory."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.counts.pairs import PairBlock
from bitcipher.embedding.row_blocks import ArrayRows, RowSource
from bitcipher.embedding.spectral.operand import Operand
from bitcipher.embedding.spectral.ppmi import Marginals, WeightedRows, compute_marginals, weight_rows
from bitcipher.embedding.spectral.row_order import order_rows
from bitcipher.embedding.spectral.transpose import forward_and_backward

# Groups of rows for each thread, so that a thread with a slow group does not delay the others.
GROUPS_PER_THREAD = 4


class Extension(NamedTuple):
    """Result of `Products.extend`.

    Attributes:
        rows: (N, b) float32.
        contexts: the context vectors of which the rows are sums, see `Products.context_vectors`.
    """

    rows: RowSource
    contexts: Mapping[int, Operand]


class InMemoryProducts:
    """Implementation of `Products` with the whole weighted matrix in memory.

    Each row is weighted and multiplied by one thread, so the result does not depend on the number of threads.

    Args:
        rows: groups of rows of the matrix. Each word is in exactly one group.
        columns: (N,) int32, the column of each word as a context word, or -1.
        marginals: number of pairs of each word.
        threads: number of threads.

    Attributes:
        marginals: the argument `marginals`.
    """

    def __init__(self, rows: Sequence[WeightedRows], columns: np.ndarray, marginals: Marginals, threads: int = 1):
        self.marginals = marginals
        self._rows = rows
        self._words = len(columns)
        self._contexts = int(columns.max(initial=-1)) + 1
        self._threads = threads

    @classmethod
    def from_counts(
        cls, counts: MergedCounts, window: int, columns: np.ndarray, threads: int = 1
    ) -> "InMemoryProducts":
        """Return the products with the weighted counts of a corpus.

        Args:
            counts: counts of a corpus.
            window: the largest offset of a context word.
            columns: (N,) int32, the column of each word as a context word, or -1 for words to leave out.
            threads: number of threads.
        """
        vocabulary = counts.vocabulary
        pairs = forward_and_backward(counts, window)
        marginals = compute_marginals([pairs], window, counts.context_window.summed, len(vocabulary))
        groups = _split_by_word(pairs, len(vocabulary), threads * GROUPS_PER_THREAD)
        with ThreadPoolExecutor(threads) as pool:
            rows = list(pool.map(lambda group: weight_rows(pairs, marginals, columns, group), groups))
        return cls(rows, columns, marginals, threads)

    @property
    def blocks(self) -> int:
        """Number of blocks of the weighted matrix: one per offset, and one for the whole window."""
        return len(self._rows[0].starts)

    def project(self, table: np.ndarray, scales: np.ndarray, landmarks: int) -> np.ndarray:
        """Return Σⱼ scaleⱼ · Mⱼ · table over the blocks j, see `Products.project`."""
        total, operand = np.zeros((landmarks, table.shape[1]), np.float32), Operand.rounded(table)
        for block, scale in _used(scales):
            self._map(lambda rows, j=block, s=scale: rows.add(j, s, operand, rows.targets(landmarks), total))
        return total

    def gram_product(self, table: np.ndarray, scales: np.ndarray) -> np.ndarray:
        """Return Σⱼ scaleⱼ · Mⱼ · Mⱼᵀ · table over the blocks j, see `Products.gram_product`."""
        landmarks = len(table)
        total = np.zeros_like(table)
        for block, vectors in self._iter_context_vectors(table, scales):
            self._map(lambda rows, j=block, v=vectors: rows.add(j, 1, v, rows.targets(landmarks), total))
        return total

    def context_vectors(self, table: np.ndarray, scales: np.ndarray) -> dict[int, Operand]:
        """Return the context vectors of each block, see `Products.context_vectors`."""
        return dict(self._iter_context_vectors(table, scales))

    def extend(self, table: np.ndarray, scales: np.ndarray) -> Extension:
        """Return the rows of `gram_product` for all words, see `Products.extend`."""
        total = np.zeros((self._words, table.shape[1]), np.float32)
        contexts = self.context_vectors(table, scales)
        for block, vectors in contexts.items():
            self._map(lambda rows, j=block, v=vectors: rows.add(j, 1, v, rows.words, total))
        return Extension(ArrayRows(total), contexts)

    def _iter_context_vectors(self, table: np.ndarray, scales: np.ndarray) -> Iterator[tuple[int, Operand]]:
        """Yield each block j and scaleⱼ · Mⱼᵀ · table, the vectors of its context words."""
        operand = Operand.rounded(table)
        for block, scale in _used(scales):
            vectors = np.zeros((self._contexts, table.shape[1]), np.float32)
            self._map(
                lambda rows, j=block, s=scale, v=vectors: rows.add_transposed(j, s, operand, rows.targets(len(v)), v)
            )
            yield block, Operand.rounded(vectors)

    def _map(self, add: Callable[[WeightedRows], None]) -> None:
        """Call a function with each group of rows."""
        with ThreadPoolExecutor(self._threads) as pool:
            for _ in pool.map(add, self._rows):
                pass


def _used(scales: np.ndarray) -> Iterator[tuple[int, float]]:
    """Yield the blocks with a scale above 0, and their scales."""
    return ((block, scale) for block, scale in enumerate(scales) if scale)


def _split_by_word(pairs: PairBlock, words: int, groups: int) -> list[np.ndarray]:
    """Return the indices of the rows in at most `groups` groups with about equal numbers of pairs.

    Each group has all rows of its words. They are sorted by word, then by offset.
    """
    rows = order_rows(pairs, words)
    ends = np.cumsum(pairs.length[rows])
    firsts = np.flatnonzero(np.diff(pairs.left[rows], prepend=-1))
    goals = len(pairs.right) * np.arange(1, groups) // groups
    bounds = firsts[np.minimum(np.searchsorted(ends[firsts], goals), len(firsts) - 1)] if len(firsts) else []
    return np.split(rows, np.unique(bounds))
