"""The parts of similarities in mode spectral.

A row of the table is Σ scale · M[w, c] · told[c] over blocks and contexts c, with told = Mᵀ · directions. So its
product with a direction u is the sum of scale · M[w, c] · (told[c] · u); and told · u = Mᵀ · (directions · u) needs a
single column, not all dimensions.
"""

from typing import NamedTuple

import numpy as np

from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.explain import kernels
from bitcipher.explain.contributions import Contribution, Parts
from bitcipher.rows import Provenance, SpectralRows, WordRows, symmetric_counts
from bitcipher.vectors.lookup import WordLookup

# Rows that become float64 at once.
BLOCK_ROWS = 4096


class Strongest(NamedTuple):
    """The strongest contributions of all words, (N, topn) each; a weight of 0 is none."""

    weights: np.ndarray
    contexts: np.ndarray
    blocks: np.ndarray


class SpectralContributions:
    """Explains vectors of mode spectral.

    Args:
        vectors: the table.
        origin: how it was made.
        counts: what it was made of.
        chosen: the rows that will be explained one at a time; all words, and all at once, if not given.
    """

    def __init__(self, vectors: WordLookup, origin: Provenance, counts: MergedCounts, chosen: np.ndarray | None):
        self._vectors = vectors
        self._directions = origin.arrays["directions"]
        mask = None if chosen is None else _around(counts, origin.window, chosen)
        self._rows = SpectralRows(counts, origin.window, mask)
        self._scales = origin.embedding.scales(self._rows.blocks)
        self._kept: dict[int, Strongest] = {}

    def parts(self, row: int, other: int) -> Parts:
        """The parts of the cosine of a word with the direction of another, or of its own."""
        found = [(block, *self._rows.of(row, block)) for block in np.flatnonzero(self._scales)]
        told = self._told(np.stack([self._unit(row), self._unit(other)], axis=1))
        products = np.concatenate(
            [
                self._scales[block] * weights.astype(np.float64)[:, None] * told[block][self._rows.places[contexts]]
                for block, contexts, weights in found
            ]
        )
        # A word's product with its own direction is the length of its row.
        length = products[:, 0].sum()
        weights = products[:, 1] / length if length > 0 else products[:, 1]
        offsets = [np.full(len(contexts), self._rows.offset_of(block)) for block, contexts, _ in found]
        contexts = np.concatenate([contexts for _, contexts, _ in found]).astype(np.int64)
        return Parts(np.concatenate(offsets), contexts, weights, 0.0)

    def strongest(self, rows: np.ndarray, topn: int) -> list[list[Contribution]]:
        """The strongest contributions of each of many rows: those of all words are found at the first call."""
        if topn not in self._kept:
            self._kept[topn] = self._strongest_of_all(topn)
        kept = self._kept[topn]
        words = self._vectors.index_to_key
        return [
            [
                Contribution(self._rows.offset_of(block), words[context], float(weight))
                for weight, context, block in zip(*(column[row] for column in kept), strict=True)
                if weight
            ]
            for row in rows
        ]

    def _strongest_of_all(self, topn: int) -> Strongest:
        words = len(self._vectors)
        norms = self._vectors.norms.astype(np.float32)[:, None]
        vectors = np.asarray(self._vectors.vectors)
        units = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
        totals = np.zeros(words)
        kept = Strongest(*(np.zeros((words, topn), dtype) for dtype in (np.float32, np.int32, np.int64)))
        rows = self._rows.rows
        for block in np.flatnonzero(self._scales):
            told = self._rows.told(block, self._directions)
            kernels.add_strongest(
                rows.words,
                rows.starts[block],
                rows.contexts,
                rows.weights,
                self._scales[block],
                self._rows.places,
                told,
                units,
                block,
                totals,
                *kept,
            )
        lengths = np.where(totals > 0, totals, 1).astype(np.float32)
        return kept._replace(weights=kept.weights / lengths[:, None])

    def _told(self, directions: np.ndarray) -> dict[int, np.ndarray]:
        """What each context tells in some directions, (d, m): for each block (n, m) float64."""
        columns = np.concatenate(
            [
                self._directions[start : start + BLOCK_ROWS].astype(np.float64) @ directions
                for start in range(0, len(self._directions), BLOCK_ROWS)
            ]
        )
        return {int(block): self._rows.told(block, columns) for block in np.flatnonzero(self._scales)}

    def _unit(self, row: int) -> np.ndarray:
        """The direction of a word, (d,) float64; zeros if it has none."""
        return np.asarray(self._vectors.vectors[row], np.float64) / (self._vectors.norms[row] or 1.0)


def _around(counts: MergedCounts, window: int, rows: np.ndarray) -> np.ndarray:
    """(N,) bool: some words, and all that stand around them."""
    words = len(counts.vocabulary)
    mask = np.zeros(words, bool)
    mask[rows] = True
    own = WordRows(symmetric_counts(counts, window, mask, together=True), words)
    mask[own.block.right] = True
    return mask
