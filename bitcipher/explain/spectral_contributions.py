"""Contributions to similarities in mode spectral.

The row of a word w is Σ scale · M[w, c] · v[c] over the blocks of the weighted matrix M (one per offset, and one for
the whole window) and over the context words c, with the context vectors v = Mᵀ · directions. The product of the row
with a direction u is therefore the sum of scale · M[w, c] · (v[c] · u). The products v · u = Mᵀ · (directions · u) are
one column per block, so the context vectors themselves are not needed.

If the vectors depend on the spelling, the vector of w is (row / |row| + share · spelling) / length. Its product with u
is the product of the row, divided by |row| · length, and a product with each part of the spelling.
"""

from typing import NamedTuple

import numpy as np

from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.embedding.spectral.basis import Basis
from bitcipher.embedding.spectral.spectral_embedding import SpectralEmbedding
from bitcipher.explain import kernels
from bitcipher.explain.contributions import Contribution, ContributionArrays
from bitcipher.explain.explained_vectors import ExplainedVectors
from bitcipher.rows.spectral_rows import SpectralRows
from bitcipher.rows.symmetric_counts import symmetric_counts
from bitcipher.rows.word_rows import WordRows
from bitcipher.spelling.spelling import Spelling
from bitcipher.vocabulary import OOV

# Rows that are converted to float64 at once.
BLOCK_ROWS = 4096


class StrongestContributions(NamedTuple):
    """The strongest contributions of all words, strongest first.

    Attributes:
        weights: (N, topn) float32, the contributions; 0 marks unused entries.
        contexts: (N, topn) int32, ranks of the context words.
        blocks: (N, topn) int64, blocks of the pairs (one per offset, and one for the whole window).
    """

    weights: np.ndarray
    contexts: np.ndarray
    blocks: np.ndarray


class SpectralContributions:
    """Contributions of context words to similarities of vectors of mode spectral.

    Args:
        explained: the vectors and their counts.
        embedding: the embedding that made the vectors.
    """

    def __init__(self, explained: ExplainedVectors, embedding: SpectralEmbedding):
        self._vectors = explained.vectors
        self._spelling = Spelling.from_arrays(explained.vectors.refinement)
        basis = Basis.from_arrays(explained.provenance.arrays)
        self._directions = basis.scaled_directions
        counts, window, selected = explained.counts, explained.provenance.window, explained.selected
        mask = None if selected is None else _select_with_contexts(counts, window, selected)
        self._rows = SpectralRows(counts, window, basis.columns(counts.vocabulary), mask)
        self._scales = embedding.scales(self._rows.blocks)
        self._strongest: dict[int, StrongestContributions] = {}

    def arrays(self, row: int, other: int) -> ContributionArrays:
        """Return all contributions to the cosine of a word's vector with the direction of another word or itself."""
        pairs = [(block, *self._rows.pairs(row, block)) for block in np.flatnonzero(self._scales).tolist()]
        units = np.stack([self._context_units(row, row + 1)[0][0], self._unit(row), self._unit(other)], axis=1)
        projected = self._project_contexts(units)
        products = np.concatenate(
            [
                self._scales[block]
                * weights.astype(np.float64)[:, None]
                * projected[block][self._rows.row_of_rank[contexts]]
                for block, contexts, weights in pairs
            ]
        )
        # The product of a row with its own direction is its length.
        length = products[:, 0].sum()
        own, weights = (products[:, column] / (length if length > 0 else 1) for column in (1, 2))
        ngrams, parts = self._parts_of_spelling(row)
        # The vector's product with itself is 1.
        whole = own.sum() + (parts @ units[:, 1]).sum()
        weights, shares = (each / (whole if whole > 0 else 1) for each in (weights, parts @ units[:, 2]))
        offsets = [np.full(len(contexts), self._rows.offset_of(block)) for block, contexts, _ in pairs]
        contexts = np.concatenate([contexts for _, contexts, _ in pairs]).astype(np.int64)
        return ContributionArrays(
            np.concatenate(offsets), contexts, weights, dict(zip(ngrams, shares.tolist(), strict=True)), 0.0
        )

    def strongest(self, rows: np.ndarray, topn: int) -> list[list[Contribution]]:
        """Return the strongest contributions to the similarity of each of many rows with itself.

        The first call for a `topn` computes the contributions to all words.
        """
        if topn not in self._strongest:
            self._strongest[topn] = self._strongest_of_all(topn)
        strongest = self._strongest[topn]
        words = self._vectors.index_to_key
        return [
            [
                Contribution(self._rows.offset_of(block), words[context], float(weight))
                for weight, context, block in zip(*(column[row] for column in strongest), strict=True)
                if weight
            ]
            for row in rows
        ]

    def _strongest_of_all(self, topn: int) -> StrongestContributions:
        words = len(self._vectors)
        norms = self._vectors.norms.astype(np.float32)[:, None]
        vectors = np.asarray(self._vectors.vectors)
        units = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
        totals = np.zeros(words)
        strongest = StrongestContributions(
            *(np.zeros((words, topn), dtype) for dtype in (np.float32, np.int32, np.int64))
        )
        rows = self._rows.rows
        for block in np.flatnonzero(self._scales).tolist():
            context_vectors = self._rows.context_vectors(block, self._directions)
            kernels.add_strongest(
                rows.words,
                rows.starts[block],
                rows.contexts,
                rows.weights,
                self._scales[block],
                self._rows.row_of_rank[self._rows.rank_of_column],
                context_vectors,
                units,
                block,
                totals,
                *strongest,
            )
        lengths = np.where(totals > 0, totals, 1) * self._scales_of_spelling(units)
        # The kernel stores columns, which are 0 for unused entries.
        contexts = self._rows.rank_of_column[strongest.contexts].astype(np.int32)
        return strongest._replace(weights=strongest.weights / lengths[:, None].astype(np.float32), contexts=contexts)

    def _scales_of_spelling(self, units: np.ndarray) -> np.ndarray:
        """Return the number that each word's contributions are divided by, in addition to the product of row and unit.

        The product of the row with the unit vector u of the word is |row| · (context · u), but its contributions to the
        similarity are divided by |row| · length.

        Args:
            units: (N, d) float32, all vectors, scaled to length 1.
        """
        if self._spelling is None:
            return np.ones(len(units))
        scales = np.empty(len(units))
        for start in range(0, len(units), BLOCK_ROWS):
            block = units[start : start + BLOCK_ROWS]
            contexts, lengths = self._context_units(start, start + len(block))
            along = np.einsum("ij,ij->i", contexts, block)
            scales[start : start + len(block)] = np.divide(lengths, along, out=np.ones_like(along), where=along > 0)
        return scales

    def _context_units(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the unit vectors of the contexts of some words, (n, d) float64, and the lengths of their sums with the
        spelling, (n,) float64.
        """
        if self._spelling is None:
            return np.stack([self._unit(row) for row in range(start, stop)]), np.ones(stop - start)
        rows = np.asarray(self._vectors.vectors[start:stop])
        words = self._vectors.words.slice(start, stop - start)
        return self._spelling.remove_from(rows, words, self._counts(start, stop))

    def _counts(self, start: int, stop: int) -> np.ndarray | None:
        """Return the occurrences of some words, (n,) int64, or None if they are unknown."""
        return None if self._vectors.counts is None else self._vectors.counts[start:stop]

    def _parts_of_spelling(self, row: int) -> tuple[list[str], np.ndarray]:
        """Return the n-grams of a word, and their parts in its vector before it is scaled to length 1, (n, d)."""
        word = self._vectors.words[row].as_py()
        if self._spelling is None or word == OOV or not self._vectors.norms[row]:
            return [], np.zeros((0, self._vectors.vector_size))
        parts = self._spelling.parts(word)
        vectors = np.array([part.vector for part in parts], np.float64).reshape(len(parts), self._vectors.vector_size)
        return [part.ngram for part in parts], self._spelling.shares(self._counts(row, row + 1)) * vectors

    def _project_contexts(self, directions: np.ndarray) -> dict[int, np.ndarray]:
        """Return the products of the context vectors of each block with (d, m) directions, (n, m) float64 per block."""
        columns = np.concatenate(
            [
                self._directions[start : start + BLOCK_ROWS].astype(np.float64) @ directions
                for start in range(0, len(self._directions), BLOCK_ROWS)
            ]
        )
        return {block: self._rows.context_vectors(block, columns) for block in np.flatnonzero(self._scales).tolist()}

    def _unit(self, row: int) -> np.ndarray:
        """Return the unit vector of a word, (d,) float64; zeros if its vector is zero."""
        return np.asarray(self._vectors.vectors[row], np.float64) / (self._vectors.norms[row] or 1.0)


def _select_with_contexts(counts: MergedCounts, window: int, rows: np.ndarray) -> np.ndarray:
    """Return a mask of the words of some rows and of all their context words, (N,) bool."""
    words = len(counts.vocabulary)
    mask = np.zeros(words, bool)
    mask[rows] = True
    contexts = WordRows(symmetric_counts(counts, window, mask, sum_offsets=True), words)
    mask[contexts.block.right] = True
    return mask
