"""The parts of similarities in the modes cat and sum.

Refinement is linear but for the length that it gives a vector, so the cosine with a direction u is a sum over
dimensions: (raw - mean) · g with g = matrix · centered(u) / length. Within a dimension the context words share in
proportion to what they put there.
"""

from typing import NamedTuple

import numpy as np

from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.explain import kernels
from bitcipher.explain.contributions import Contribution, DimensionShare, Parts
from bitcipher.rows import CipherRows, Provenance, UnknownProvenanceError, WordRows, symmetric_counts
from bitcipher.vectors.lookup import WordLookup

# Rows that are refined at once, see `bitcipher.embedding.refinement`.
BLOCK_ROWS = 4096


class Slopes(NamedTuple):
    """What dimensions add to a cosine, and what a context adds for each unit that it puts into one.

    Attributes:
        shares: (blocks, b) float64, what each dimension adds.
        slopes: (blocks, b) float64.
    """

    shares: np.ndarray
    slopes: np.ndarray


class CipherContributions:
    """Explains vectors of mode cat or sum.

    Args:
        vectors: the table.
        origin: how it was made.
        counts: what it was made of.
        chosen: the rows that will be explained one at a time; all words, and all at once, if not given.
    """

    def __init__(self, vectors: WordLookup, origin: Provenance, counts: MergedCounts, chosen: np.ndarray | None):
        embedding = origin.embedding
        if embedding.log == "counts" and counts.context_window.summed:
            raise UnknownProvenanceError(
                "Logs of counts that were summed while counting cannot be told apart by context word: explain vectors "
                "of another log."
            )
        self._vectors = vectors
        self._counts = counts
        self._mean, self._matrix = (origin.arrays[name].astype(np.float64) for name in ("mean", "matrix"))
        self._code = CipherRows(embedding, counts.vocabulary)
        mask = None
        if chosen is not None:
            mask = np.zeros(len(vectors), bool)
            mask[chosen] = True
        # A log of counts is taken offset by offset; else all that is summed up is one number a context word.
        together = embedding.mode == "sum" and embedding.log != "counts"
        self._rows = WordRows(symmetric_counts(counts, origin.window, mask, together), len(vectors))
        self._raw: np.ndarray | None = None

    def parts(self, row: int, other: int) -> Parts:
        """The parts of the cosine of a word with the direction of another, or of its own."""
        found = self._rows[row]
        shares, slopes = self._slopes(row, other)
        blocks = self._code.block_of(found.offsets)
        told = (self._code.ciphers(found.contexts) * slopes[blocks]).sum(axis=1)
        weights = self._code.amounts(found.counts) * told
        return Parts(found.offsets, found.contexts, weights, float(shares.sum() - weights.sum()))

    def dimensions(self, row: int, other: int, topn: int, topn_contexts: int) -> list[DimensionShare]:
        """The dimensions that add or take most, and their context words."""
        found = self._rows[row]
        shares, slopes = self._slopes(row, other)
        blocks = self._code.block_of(found.offsets)
        amounts = self._code.amounts(found.counts)
        words = self._vectors.index_to_key
        result = []
        for dimension in np.argsort(-np.abs(shares.ravel()), kind="stable")[:topn]:
            block, bit = divmod(int(dimension), shares.shape[1])
            inside = blocks == block
            contexts = found.contexts[inside]
            weights = amounts[inside] * self._code.ciphers(contexts)[:, bit] * slopes[block, bit]
            parts = Parts(found.offsets[inside], contexts, weights, 0.0)
            contributions, _ = parts.strongest(topn_contexts, words)
            result.append(DimensionShare(self._code.offset_of(block), bit, float(shares[block, bit]), contributions))
        return result

    def strongest(self, rows: np.ndarray, topn: int) -> list[list[Contribution]]:
        """The strongest contributions of each of many rows."""
        if self._raw is None:
            self._raw = self._code.embedding.table(self._counts)
        slopes = np.concatenate(
            [self._many_slopes(rows[start : start + BLOCK_ROWS]) for start in range(0, len(rows), BLOCK_ROWS)]
        )
        block = self._rows.block
        starts = np.stack([self._rows.first_rows[rows], self._rows.last_rows[rows]], axis=1)
        codes = self._code.codes
        found = kernels.strongest_of_ciphers(
            starts,
            self._rows.first_pairs,
            self._code.block_of(block.offset.astype(np.int64)),
            block.right,
            block.count,
            {"none": kernels.NONE, "counts": kernels.COUNTS, "aggregate": kernels.AGGREGATE}[self._code.embedding.log],
            codes.starts,
            codes.bits,
            self._code.trust,
            self._code.noise_distribution,
            slopes,
            topn,
        )
        words = self._vectors.index_to_key
        return [
            [
                Contribution(int(block.offset[row]), words[block.right[pair]], float(weight))
                for row, pair, weight in zip(*of_word, strict=True)
                if weight
            ]
            for of_word in zip(*found, strict=True)
        ]

    def _slopes(self, row: int, other: int) -> Slopes:
        sums = self._code.sums(self._rows[row])
        if not sums.any():
            return Slopes(np.zeros_like(sums), np.zeros_like(sums))
        raw = self._code.raw(sums)
        gains = self._gains(raw[None], np.array([other]))[0]
        shares = ((raw - self._mean) * gains).reshape(sums.shape)
        if self._code.embedding.log != "aggregate":
            return Slopes(shares, gains.reshape(sums.shape))
        return Slopes(shares, np.divide(shares, sums, out=np.zeros_like(sums), where=sums > 0))

    def _gains(self, raw: np.ndarray, others: np.ndarray) -> np.ndarray:
        """What each dimension of raw rows adds to cosines with directions, for each unit: (n, d)."""
        white = (raw - self._mean) @ self._matrix
        white -= white.mean(axis=1, keepdims=True)
        lengths = np.linalg.norm(white, axis=1) * self._vectors.norms[others]
        directions = np.asarray(self._vectors.vectors)[others].astype(np.float64)
        directions -= directions.mean(axis=1, keepdims=True)
        scales = np.divide(1, lengths, out=np.zeros(len(raw)), where=lengths > 0)
        return (directions * scales[:, None]) @ self._matrix

    def _many_slopes(self, rows: np.ndarray) -> np.ndarray:
        """The slopes of many rows with themselves, (n, blocks, b)."""
        raw = self._raw[rows]
        gains = self._gains(raw, rows)
        if self._code.embedding.log == "aggregate":
            # Of each unit of a bit's share, which is what the kernel lets contexts put there.
            gains *= (raw - self._mean) / np.exp(raw)
        return gains.reshape(len(rows), self._code.blocks, -1)
