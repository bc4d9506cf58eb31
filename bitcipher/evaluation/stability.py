"""How stable neighbors are between two tables: of two versions, two seeds or two sizes of text."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bitcipher.errors import BitcipherError
from bitcipher.evaluation.neighbors import nearest_rows, neighbor_overlap, rows_of_words
from bitcipher.vocabulary import OOV

if TYPE_CHECKING:
    from bitcipher.vectors import CipherVectors


@dataclass(frozen=True)
class StabilityResult:
    """How many neighbors two tables have in common; means over words."""

    words: int
    """Words that were compared."""
    overlap: float
    """The share of a word's neighbors in the one table that are so in the other."""
    jaccard: float
    """What both have in common, as a share of all neighbors that either has."""


def neighbor_stability(
    before: "CipherVectors", now: "CipherVectors", words: int = 1_000, topn: int = 10
) -> StabilityResult:
    """Compare the nearest words, by cosine, of the most frequent words that two tables share.

    Args:
        before, now: the tables; their dimensions may differ, for each is only compared with itself.
        words: how many of the most frequent shared words, in the order of `before`, without `<oov>`.
        topn: neighbors of each; those that the other table does not hold are not in common.

    Raises:
        BitcipherError: if no word is in both.
    """
    places = rows_of_words(before, now)
    shared = np.flatnonzero(places >= 0)
    shared = shared[shared != before.key_to_index.get(OOV, -1)][:words]
    if not len(shared):
        raise BitcipherError("The two tables have no word in common.")
    nearest_before, _ = nearest_rows(_units(before), shared, topn)
    nearest_now, _ = nearest_rows(_units(now), places[shared], topn)
    neighbors = places[nearest_before]
    overlap = neighbor_overlap(neighbors, nearest_now)
    common = overlap * nearest_before.shape[1]
    either = nearest_before.shape[1] + nearest_now.shape[1] - common
    jaccard = np.divide(common, either, out=np.ones(len(shared)), where=either > 0)
    return StabilityResult(len(shared), float(overlap.mean()), float(jaccard.mean()))


def _units(vectors: "CipherVectors") -> np.ndarray:
    lengths = np.where(vectors.norms > 0, vectors.norms, 1)
    return (np.asarray(vectors.vectors) / lengths[:, None]).astype(np.float32)
