"""Stability of nearest neighbors between two tables, such as two versions, two seeds or two corpus sizes."""

from dataclasses import dataclass

import numpy as np

from bitcipher.errors import BitcipherError
from bitcipher.evaluation.neighbors import match_rows, nearest_rows, neighbor_overlap
from bitcipher.table.vector_table import VectorTable
from bitcipher.vocabulary import OOV


@dataclass(frozen=True)
class StabilityResult:
    """Agreement of the nearest neighbors of two tables, as means over words."""

    words: int
    """Number of words that were compared."""
    overlap: float
    """Share of a word's neighbors in the first table that are also neighbors in the second."""
    jaccard: float
    """Number of shared neighbors of a word, divided by the size of the union of its neighbors in both tables."""


def neighbor_stability(before: VectorTable, after: VectorTable, words: int = 1_000, topn: int = 10) -> StabilityResult:
    """Compare the nearest neighbors, by cosine, of the most frequent words that two tables share.

    Args:
        before, after: the tables. Their vector sizes can differ, since neighbors are searched within each table.
        words: number of shared words to compare, in the order of `before`, without `<oov>`.
        topn: neighbors per word. Neighbors that the other table lacks count as not shared.

    Raises:
        BitcipherError: if the tables have no word in common.
    """
    rows = match_rows(before, after)
    shared = np.flatnonzero(rows >= 0)
    shared = shared[shared != before.key_to_index.get(OOV, -1)][:words]
    if not len(shared):
        raise BitcipherError("The two tables have no word in common.")
    nearest_before, _ = nearest_rows(_unit_rows(before), shared, topn)
    nearest_after, _ = nearest_rows(_unit_rows(after), rows[shared], topn)
    overlap = neighbor_overlap(rows[nearest_before], nearest_after)
    common = overlap * nearest_before.shape[1]
    union = nearest_before.shape[1] + nearest_after.shape[1] - common
    jaccard = np.divide(common, union, out=np.ones(len(shared)), where=union > 0)
    return StabilityResult(len(shared), float(overlap.mean()), float(jaccard.mean()))


def _unit_rows(vectors: VectorTable) -> np.ndarray:
    lengths = np.where(vectors.norms > 0, vectors.norms, 1)
    return (np.asarray(vectors.vectors) / lengths[:, None]).astype(np.float32)
