"""Which words are nearest to each of many, found by walking the whole table: for drift, maps and pages.

For one word at a time there is `CipherVectors.most_similar`. This is for thousands of them at once, where a product of
matrices takes a hundredth of the time.
"""

from collections.abc import Callable

import numpy as np
import pyarrow.compute as pc
from threadpoolctl import threadpool_limits

from bitcipher.vectors import CipherVectors

# Of a product of rows with the table: 64 MB of cosines.
QUERY_ROWS = 512
BLOCK_ROWS = 1 << 15


@threadpool_limits.wrap(limits=1)  # the sums of BLAS depend on its threads
def nearest_rows(
    units: np.ndarray, rows: np.ndarray, topn: int, advance: Callable[[int], None] = lambda done: None
) -> tuple[np.ndarray, np.ndarray]:
    """The rows of a table that are nearest to each of some of its rows by cosine, without itself.

    Args:
        units: (N, d) float32, of length 1 each.
        rows: (n,) which rows to find the neighbors of.
        topn: how many; a table of fewer rows gives all others.
        advance: called with the number of rows found since it was called before.

    Returns:
        Their rows, (n, up to topn) int64, the nearest first, and their cosines, float32.
    """
    parts = []
    for start in range(0, len(rows), QUERY_ROWS):
        parts.append(_nearest(units, rows[start : start + QUERY_ROWS], min(topn, len(units) - 1)))
        advance(len(parts[-1][0]))
    if not parts:
        return np.empty((0, 0), np.int64), np.empty((0, 0), np.float32)
    found, cosines = zip(*parts, strict=True)
    return np.vstack(found), np.vstack(cosines)


def _nearest(units: np.ndarray, rows: np.ndarray, topn: int) -> tuple[np.ndarray, np.ndarray]:
    queries = np.asarray(units[rows])
    best = np.empty((len(rows), 0), np.int64)
    scores = np.empty((len(rows), 0), np.float32)
    for start in range(0, len(units), BLOCK_ROWS):
        cosines = queries @ units[start : start + BLOCK_ROWS].T
        own = rows - start
        inside = (own >= 0) & (own < cosines.shape[1])
        cosines[np.flatnonzero(inside), own[inside]] = -np.inf
        keep = min(topn, cosines.shape[1])
        found = np.argpartition(-cosines, keep - 1, axis=1)[:, :keep] if keep else np.empty((len(rows), 0), np.int64)
        best = np.hstack([best, found + start])
        scores = np.hstack([scores, np.take_along_axis(cosines, found, axis=1)])
    order = np.argsort(-scores, axis=1, kind="stable")[:, :topn]
    return np.take_along_axis(best, order, axis=1), np.take_along_axis(scores, order, axis=1)


def rows_of_words(before: CipherVectors, now: CipherVectors) -> np.ndarray:
    """Where each word of one table is in another, (words before,) int64; -1 for those that went."""
    return np.asarray(pc.index_in(before.words, now.words).fill_null(-1), np.int64)


def neighbor_overlap(before: np.ndarray, now: np.ndarray) -> np.ndarray:
    """How many of each word's neighbors stayed, as a share, (n,) float64; 1 for words that had none.

    Args:
        before: (n, k) where the neighbors before are in the table of now, -1 for those that went.
        now: (n, m) rows of the neighbors now.
    """
    kept = [
        len(set(old) & set(new)) / len(old) if old else 1.0
        for old, new in zip(before.tolist(), now.tolist(), strict=True)
    ]
    return np.array(kept, np.float64)
