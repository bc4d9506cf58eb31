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
import scipy.linalg  # noqa: F401  its BLAS is that of products in kernels, and limits of threads need it loaded

from bitcipher.kernel_cache import kernel
from bitcipher.table.vector_table import VectorTable
from bitcipher.vocabulary import OOV

# Rows per product. With 32 queries, their cosines take 256 kB, which fit into the cache of a core.
BLOCK_ROWS = 1 << 11

RANGES_PER_THREAD = 4

# Lengths of rows whose products in float32 neither overflow nor underflow. Other rows are always returned.
USUAL_LENGTHS = (1e-20, 1e20)

# Less than any cosine.
LOWEST = np.float32(-2)


class ExactSearch:
    """Search in one table. `<oov>` and zero vectors are never returned.

    Searches need Python's lock at their start and end only, so they do not slow other threads.

    Args:
        vectors: the table, of which only the lengths are copied.
        threads: number of threads, each of which searches a range of rows. Products by BLAS should then have one
            thread each, because threads of BLAS wait actively for each other.
    """

    def __init__(self, vectors: VectorTable, threads: int = 1):
        # Several ranges per thread: if one thread is slowed down, the others take more of them.
        parts = min(RANGES_PER_THREAD * threads, 1 + len(vectors) // BLOCK_ROWS)
        bounds = np.linspace(0, len(vectors), parts + 1).astype(np.int64).tolist()
        self._ranges = list(pairwise(bounds))
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="search")
        self._table = np.ascontiguousarray(vectors.vectors, np.float32)
        norms = vectors.norms
        is_neighbor = norms > 0
        if OOV in vectors.key_to_index:
            is_neighbor[vectors.key_to_index[OOV]] = False
        is_usual = is_neighbor & (norms > USUAL_LENGTHS[0]) & (norms < USUAL_LENGTHS[1])
        self._scales = np.divide(1, norms, out=np.zeros(len(norms)), where=is_usual).astype(np.float32)
        self._unusual = np.flatnonzero(is_neighbor & ~is_usual)
        # A product of unit vectors of d values is exact to d · eps / 2 (Higham 2002, "Accuracy and Stability of
        # Numerical Algorithms", section 3.1), in BLAS and in `most_similar`, and the rounded lengths add a little. So
        # cosines of both differ by less than (d + 8) · eps, and those of two rows change places within twice that.
        self._margin = np.float32(2 * (vectors.vector_size + 8) * np.finfo(np.float32).eps)

    def nearest(self, queries: np.ndarray, topn: Sequence[int]) -> list[np.ndarray]:
        """Return rows that contain the nearest ones of each query, (n,) int64 each, ascending.

        Args:
            queries: (b, d) float32, of length 1.
            topn: number of nearest rows that are needed of each query, at least 1.
        """
        columns, numbers = np.ascontiguousarray(queries.T, np.float32), np.array(topn, np.int64)
        lowest = np.full(len(numbers), LOWEST)

        def search(bounds: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            return _search_rows(self._table, self._scales, columns, numbers, self._margin, lowest, *bounds)

        found = list(self._pool.map(search, self._ranges))
        return [
            self._merge([(rows[each, : n[each]], cosines[each, : n[each]]) for rows, cosines, n in found], topn[each])
            for each in range(len(topn))
        ]

    def _merge(self, parts: list[tuple[np.ndarray, np.ndarray]], topn: int) -> np.ndarray:
        """Return the rows that can be among the nearest of all ranges, from those of each range, with their cosines."""
        rows, cosines = (np.concatenate(part) for part in zip(*parts, strict=True))
        if len(rows) > topn:
            rows = rows[cosines >= np.partition(cosines, -topn)[-topn] - self._margin]
        return np.union1d(rows, self._unusual) if len(self._unusual) else rows


@kernel
def _search_rows(table, scales, queries, topn, margin, lowest, start, stop):
    """Return rows that can be among the nearest of a range of rows.

    Args:
        table: (N, d) float32.
        scales: one by the length of each row, (N,) float32; 0 for rows that are not searched.
        queries: (d, b) float32, of length 1.
        topn: number of nearest rows that are needed of each query, (b,) int64.
        margin: maximum error of a cosine, float32.
        lowest: the least cosine of rows that can be among the nearest, (b,) float32. Threads that search other ranges
            raise it, too. If one overwrites what another has written, rows are returned that need not be.
        start: the first row.
        stop: the row after the last one.

    Returns:
        Rows, (b, n) int64, their cosines, (b, n) float32, and their numbers, (b,) int64.
    """
    number = queries.shape[1]
    rows = np.empty((number, 2 * topn.max() + 64), np.int64)
    cosines = np.empty(rows.shape, np.float32)
    counts = np.zeros(number, np.int64)
    products = np.empty((BLOCK_ROWS, number), np.float32)
    for first in range(start, stop, BLOCK_ROWS):
        last = min(first + BLOCK_ROWS, stop)
        np.dot(table[first:last], queries, products[: last - first])
        for row in range(first, last):
            if scales[row] == 0:
                continue
            line = products[row - first]
            is_near = False
            for query in range(number):  # compiled to vector instructions, without the rare branch
                line[query] *= scales[row]
                is_near |= line[query] >= lowest[query]
            if not is_near:
                continue
            for query in range(number):
                if not line[query] >= lowest[query]:  # also NaN
                    continue
                if counts[query] == rows.shape[1]:
                    counts[query], least = _keep_nearest(
                        rows[query], cosines[query], counts[query], topn[query], margin
                    )
                    lowest[query] = max(lowest[query], least)
                    if 2 * counts[query] > rows.shape[1]:  # many rows have the same cosine
                        rows = np.concatenate((rows, np.empty_like(rows)), axis=1)
                        cosines = np.concatenate((cosines, np.empty_like(cosines)), axis=1)
                if line[query] >= lowest[query]:
                    rows[query, counts[query]] = row
                    cosines[query, counts[query]] = line[query]
                    counts[query] += 1
    for query in range(number):
        counts[query], least = _keep_nearest(rows[query], cosines[query], counts[query], topn[query], margin)
        lowest[query] = max(lowest[query], least)
    return rows, cosines, counts


@kernel
def _keep_nearest(rows, cosines, count, topn, margin):
    """Move the rows that can be among the nearest to the front.

    Args:
        rows: (n,) int64, of which the first `count` are rows. Changed in place.
        cosines: cosines of the rows, (n,) float32. Changed in place.
        count: number of rows.
        topn: number of nearest rows that are needed.
        margin: maximum error of a cosine, float32.

    Returns:
        The number of rows that are left, and the least cosine of rows to add next.
    """
    if count < topn:
        return count, LOWEST
    lowest = np.partition(cosines[:count], count - topn)[count - topn] - margin
    kept = 0
    for each in range(count):
        if cosines[each] >= lowest:
            rows[kept] = rows[each]
            cosines[kept] = cosines[each]
            kept += 1
    return kept, lowest
