"""Exact nearest neighbors of many rows at once, for version drift, maps and reports.

`CipherVectors.most_similar` searches for one word. For thousands of words, the matrix products of this module are a
hundred times faster.
"""

from collections.abc import Callable

import numpy as np
import pyarrow.compute as pc
from threadpoolctl import threadpool_limits

from bitcipher.table.vector_table import VectorTable

# Block size of the product of queries and table: 64 MB of cosines.
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
    blocks = []
    for start in range(0, len(rows), QUERY_ROWS):
        blocks.append(_nearest(units, rows[start : start + QUERY_ROWS], min(topn, len(units) - 1)))
        advance(len(blocks[-1][0]))
    if not blocks:
        return np.empty((0, 0), np.int64), np.empty((0, 0), np.float32)
    neighbors, cosines = zip(*blocks, strict=True)
    return np.vstack(neighbors), np.vstack(cosines)


def _nearest(units: np.ndarray, rows: np.ndarray, topn: int) -> tuple[np.ndarray, np.ndarray]:
    queries = np.asarray(units[rows])
    best = np.empty((len(rows), 0), np.int64)
    scores = np.empty((len(rows), 0), np.float32)
    for start in range(0, len(units), BLOCK_ROWS):
        cosines = queries @ units[start : start + BLOCK_ROWS].T
        self_columns = rows - start
        inside = (self_columns >= 0) & (self_columns < cosines.shape[1])
        cosines[np.flatnonzero(inside), self_columns[inside]] = -np.inf
        keep = min(topn, cosines.shape[1])
        nearest = np.argpartition(-cosines, keep - 1, axis=1)[:, :keep] if keep else np.empty((len(rows), 0), np.int64)
        best = np.hstack([best, nearest + start])
        scores = np.hstack([scores, np.take_along_axis(cosines, nearest, axis=1)])
    order = np.argsort(-scores, axis=1, kind="stable")[:, :topn]
    return np.take_along_axis(best, order, axis=1), np.take_along_axis(scores, order, axis=1)


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
