"""`ExactSearch`: the nearest rows of several vectors at once.

`most_similar` reads the whole table for each query. This search reads it once for all of its queries, in products of
matrices. Products by BLAS differ in the last bits from the cosines of `most_similar`, so the search returns all rows
that can be among the nearest. `most_similar(..., indexer=...)` computes their cosines again, so its result is that of a
search without an index.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from bitcipher.table import VectorTable
from bitcipher.vocabulary import OOV

# Rows per product. With 64 queries, their cosines take 2 MB.
BLOCK_ROWS = 1 << 13

# Lengths of rows whose products in float32 neither overflow nor underflow. Other rows are always returned.
USUAL_LENGTHS = (1e-20, 1e20)

# Less than any cosine, and more than the value of rows that are no neighbors.
LOWEST = -2.0


class ExactSearch:
    """Search in one table. `<oov>` and zero vectors are never returned.

    Args:
        vectors: the table, of which only the lengths are copied.
        threads: number of threads, each of which searches a range of rows. Products by BLAS should then have one
            thread each, because threads of BLAS wait actively for each other.
    """

    def __init__(self, vectors: VectorTable, threads: int = 1):
        bounds = np.linspace(0, len(vectors), threads + 1).astype(np.int64).tolist()
        self._ranges = [range(*each) for each in pairwise(bounds)]
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="search")
        self._table = np.asarray(vectors.vectors)
        norms = vectors.norms
        is_neighbor = norms > 0
        if OOV in vectors.key_to_index:
            is_neighbor[vectors.key_to_index[OOV]] = False
        is_usual = is_neighbor & (norms > USUAL_LENGTHS[0]) & (norms < USUAL_LENGTHS[1])
        self._scales = np.divide(1, norms, out=np.zeros(len(norms)), where=is_usual).astype(np.float32)
        self._skipped = np.flatnonzero(~is_usual)
        self._unusual = np.flatnonzero(is_neighbor & ~is_usual)
        # A product of unit vectors of d values is exact to d · eps / 2 (Higham 2002, "Accuracy and Stability of
        # Numerical Algorithms", section 3.1), in BLAS and in `most_similar`, and the rounded lengths add a little. So
        # cosines of both differ by less than (d + 8) · eps, and those of two rows change places within twice that.
        self._margin = 2 * (vectors.vector_size + 8) * float(np.finfo(np.float32).eps)

    def nearest(self, queries: np.ndarray, topn: Sequence[int]) -> list[np.ndarray]:
        """Return rows that contain the nearest ones of each query, (n,) int64 each, ascending.

        Args:
            queries: (b, d) float32, of length 1.
            topn: number of nearest rows that are needed of each query, at least 1.
        """
        found, *others = self._pool.map(lambda rows: self._search(rows, queries, topn), self._ranges)
        for other in others:
            for each, added in zip(found, other, strict=True):
                each.add(added.rows, added.cosines)
        return [np.union1d(each.rows, self._unusual) for each in found]

    def _search(self, searched: range, queries: np.ndarray, topn: Sequence[int]) -> list["_NearestRows"]:
        found = [_NearestRows(number, self._margin) for number in topn]
        lowest = np.full((len(queries), 1), LOWEST, np.float32)
        for start in range(searched.start, searched.stop, BLOCK_ROWS):
            block = slice(start, min(start + BLOCK_ROWS, searched.stop))
            cosines = queries @ self._table[block].T
            cosines *= self._scales[block]
            skipped = self._skipped[slice(*np.searchsorted(self._skipped, [block.start, block.stop]))]
            cosines[:, skipped - start] = -np.inf
            numbers, columns = np.divmod(np.flatnonzero(cosines >= lowest), cosines.shape[1])
            ends = np.searchsorted(numbers, np.arange(len(queries) + 1))
            for number in np.flatnonzero(np.diff(ends)):
                better = columns[ends[number] : ends[number + 1]]
                lowest[number] = found[number].add(start + better, cosines[number, better])
        return found


class _NearestRows:
    """The rows that can be among the nearest of those that were added."""

    def __init__(self, topn: int, margin: float):
        self.rows = np.empty(0, np.int64)
        self.cosines = np.empty(0, np.float32)
        self._topn, self._margin = topn, margin

    def add(self, rows: np.ndarray, cosines: np.ndarray) -> float:
        """Add rows, and return the least cosine of rows to add next."""
        self.rows, self.cosines = np.concatenate([self.rows, rows]), np.concatenate([self.cosines, cosines])
        if len(self.rows) < self._topn:
            return LOWEST
        lowest = float(np.partition(self.cosines, -self._topn)[-self._topn]) - self._margin
        is_kept = self.cosines >= lowest
        self.rows, self.cosines = self.rows[is_kept], self.cosines[is_kept]
        return lowest
