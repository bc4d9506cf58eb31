"""Exact nearest neighbors of many rows at once, for version drift, maps and reports.

`CipherVectors.most_similar` searches for one word. For thousands of words, the matrix products of this module are a
hundred times faster.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow.compute as pc
from threadpoolctl import threadpool_limits

from bitcipher.cores import available_cores
from bitcipher.kernel_cache import kernel
from bitcipher.table.vector_table import VectorTable

# Block size of the product of queries and table: 64 MB of cosines in each thread.
QUERY_ROWS = 512
BLOCK_ROWS = 1 << 15


@threadpool_limits.wrap(limits=1)  # BLAS sums depend on the number of threads
def nearest_rows(
    units: np.ndarray, rows: np.ndarray, topn: int, advance: Callable[[int], None] = lambda done: None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest rows, by cosine, of each query row. A row is not its own neighbor.

    Args:
        units: (N, d) float32, rows of length 1.
        rows: (n,) row numbers of the queries.
        topn: neighbors per row; at most N - 1 are returned.
        advance: progress callback, called with the number of rows finished since the last call.

    Returns:
        Row numbers of the neighbors, (n, min(topn, N - 1)) int64, nearest first; and their cosines, float32 of the same
        shape.
    """
    topn = min(topn, len(units) - 1)
    neighbors, cosines = np.empty((len(rows), topn), np.int64), np.empty((len(rows), topn), np.float32)

    def find(start: int) -> int:
        queries = slice(start, start + QUERY_ROWS)
        neighbors[queries], cosines[queries] = _nearest(units, rows[queries], topn)
        return len(rows[queries])

    with ThreadPoolExecutor(available_cores()) as pool:
        for done in pool.map(find, range(0, len(rows), QUERY_ROWS)):
            advance(done)
    return neighbors, cosines


def _nearest(units: np.ndarray, rows: np.ndarray, topn: int) -> tuple[np.ndarray, np.ndarray]:
    queries = np.asarray(units[rows])
    best, scores = np.zeros((len(rows), topn), np.int64), np.full((len(rows), topn), -np.inf, np.float32)
    for start in range(0, len(units), BLOCK_ROWS):
        _keep_highest(queries @ units[start : start + BLOCK_ROWS].T, start, rows, best, scores)
    return best, scores


@kernel
def _keep_highest(cosines, start, rows, best, scores):
    """Update the nearest rows of some queries with a block of the table. Of equal cosines, the first rows win.

    Args:
        cosines: (n, m) float32, cosines of the queries with the rows of the block.
        start: first row of the block.
        rows: (n,) row number of each query.
        best, scores: (n, topn) int64 and float32, updated in place: the nearest rows and their cosines.
    """
    topn = best.shape[1]
    for query in range(len(rows)):
        lowest = scores[query, topn - 1] if topn else np.float32(np.inf)
        for column in range(cosines.shape[1]):
            cosine = cosines[query, column]
            if cosine > lowest and start + column != rows[query]:
                position = topn - 1
                while position and scores[query, position - 1] < cosine:
                    best[query, position], scores[query, position] = (
                        best[query, position - 1],
                        scores[query, position - 1],
                    )
                    position -= 1
                best[query, position], scores[query, position] = start + column, cosine
                lowest = scores[query, topn - 1]


def match_rows(before: VectorTable, after: VectorTable) -> np.ndarray:
    """Return the row in `after` of each word of `before`, (words of before,) int64, or -1 if `after` lacks the word."""
    return np.asarray(pc.index_in(before.words, after.words).fill_null(-1), np.int64)


def neighbor_overlap(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return the share of each word's neighbors in the earlier table that are also neighbors in the later table.

    Args:
        before: (n, k) neighbors in the earlier table, as rows of the later table; -1 for words that the later table
            lacks.
        after: (n, m) neighbors in the later table.

    Returns:
        (n,) float64; 1 for all words if `before` has no neighbors (k = 0).
    """
    shares = [
        len(set(old) & set(new)) / len(old) if old else 1.0
        for old, new in zip(before.tolist(), after.tolist(), strict=True)
    ]
    return np.array(shares, np.float64)
