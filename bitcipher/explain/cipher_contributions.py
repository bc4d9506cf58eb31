"""Contributions to similarities in modes cat and sum.

Refinement is linear up to the scaling to unit length, so the cosine of a vector with a direction u is the sum over
dimensions of (raw - mean) · g, with the raw row of the word, the mean and matrix of the whitening, and
g = matrix · centered(u) / length. The contribution of a dimension is divided among the context words in proportion to
their terms in the product of counts and ciphers.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bitcipher.embedding.cipher_embedding import CipherEmbedding
from bitcipher.embedding.row_blocks import block_slices
from bitcipher.explain import kernels
from bitcipher.explain.contributions import Contribution, ContributionArrays, DimensionShare
from bitcipher.explain.explained_vectors import ExplainedVectors, LastRows
from bitcipher.rows.cipher_rows import CipherRows
from bitcipher.rows.provenance import UnknownProvenanceError
from bitcipher.rows.symmetric_counts import symmetric_counts
from bitcipher.rows.word_rows import ContextCounts, WordRows


class Slopes(NamedTuple):
    """Contributions of dimensions to a cosine, and the factors that give the contributions of context words.

    Attributes:
        shares: (blocks, b) float64, contribution of each dimension: a block per offset, with one dimension per bit.
        slopes: (blocks, b) float64, contribution of a context word in each dimension, divided by the product of its
            count and its cipher there.
    """

    shares: np.ndarray
    slopes: np.ndarray


class CipherContributions:
    """Contributions of context words to similarities of vectors of mode cat or sum.

    Args:
        explained: the vectors and their counts.
        embedding: the embedding that made the vectors.
    """

    def __init__(self, explained: ExplainedVectors, embedding: CipherEmbedding):
        vectors, provenance, counts = explained.vectors, explained.provenance, explained.counts
        if embedding.log == "counts" and counts.context_window.summed:
            raise UnknownProvenanceError(
                'With log="counts", vectors of summed counts cannot be explained by context word: use another log.'
            )
        self._vectors = vectors
        self._counts = counts
        self._mean, self._matrix = (provenance.arrays[name].astype(np.float64) for name in ("mean", "matrix"))
        self._code = CipherRows(embedding, counts.vocabulary)
        self._window = provenance.window
        # Mode sum needs only the sum over offsets of each context word's counts, unless logs are taken per offset.
        self._sum_offsets = embedding.mode == "sum" and embedding.log != "counts"
        self._rows = LastRows(self._read_rows, explained.selected)
        self._table: tuple[WordRows, np.ndarray] | None = None

    def arrays(self, row: int, other: int) -> ContributionArrays:
        """Return all contributions to the cosine of a word's vector with the direction of another word or itself."""
        pairs = self._rows.of(np.array([row, other]))[row]
        shares, slopes = self._slopes(row, other)
        blocks = self._code.block_of(pairs.offsets)
        products = (self._code.ciphers(pairs.contexts) * slopes[blocks]).sum(axis=1)
        weights = self._code.transform_counts(pairs.counts) * products
        return ContributionArrays(pairs.offsets, pairs.contexts, weights, {}, float(shares.sum() - weights.sum()))

    def dimensions(self, row: int, other: int, topn: int, topn_contexts: int) -> list[DimensionShare]:
        """Return the dimensions with the strongest contributions, each with its strongest context words."""
        pairs = self._pairs(row)
        shares, slopes = self._slopes(row, other)
        blocks = self._code.block_of(pairs.offsets)
        factors = self._code.transform_counts(pairs.counts)
        words = self._vectors.index_to_key
        result = []
        for dimension in np.argsort(-np.abs(shares.ravel()), kind="stable")[:topn]:
            block, bit = divmod(int(dimension), shares.shape[1])
            in_block = blocks == block
            contexts = pairs.contexts[in_block]
            weights = factors[in_block] * self._code.ciphers(contexts)[:, bit] * slopes[block, bit]
            arrays = ContributionArrays(pairs.offsets[in_block], contexts, weights, {}, 0.0)
            contributions, _ = arrays.strongest(topn_contexts, words)
            result.append(DimensionShare(self._code.offset_of(block), bit, float(shares[block, bit]), contributions))
        return result

    def strongest(self, rows: np.ndarray, topn: int) -> Iterator[list[Contribution]]:
        """Yield the strongest contributions to the similarity of each of many rows with itself."""
        if self._table is None:
            self._table = self._read_rows(), self._code.embedding.table(self._counts)
        every, raw = self._table
        for block in block_slices(len(rows)):
            yield from self._strongest_of(every, rows[block], topn, self._slopes_of_rows(raw, rows[block]))

    def _strongest_of(
        self, every: WordRows, rows: np.ndarray, topn: int, slopes: np.ndarray
    ) -> list[list[Contribution]]:
        block = every.block
        starts = np.stack([every.first_rows[rows], every.last_rows[rows]], axis=1)
        codes = self._code.codes
        strongest = kernels.strongest_of_ciphers(
            starts,
            every.first_pairs,
            self._code.block_of(block.offset.astype(np.int64)),
            block.right,
            block.count,
            {"none": kernels.NONE, "counts": kernels.COUNTS, "aggregate": kernels.AGGREGATE}[self._code.embedding.log],
            codes.starts,
            codes.bits,
            self._code.beta,
            self._code.noise_distribution,
            slopes,
            topn,
        )
        words = self._vectors.index_to_key
        return [
            [
                Contribution(int(block.offset[row]), words[block.right[pair]], float(weight))
                for row, pair, weight in zip(*columns, strict=True)
                if weight
            ]
            for columns in zip(*strongest, strict=True)
        ]

    def _pairs(self, row: int) -> ContextCounts:
        return self._rows.of(np.array([row]))[row]

    def _read_rows(self, rows: np.ndarray | None = None) -> WordRows:
        """Return the rows of some words, by default of all."""
        selected = None
        if rows is not None:
            selected = np.zeros(len(self._vectors), bool)
            selected[rows] = True
        pairs = symmetric_counts(self._counts, self._window, selected, self._sum_offsets)
        return WordRows(pairs, len(self._vectors))

    def _slopes(self, row: int, other: int) -> Slopes:
        sums = self._code.sums(self._pairs(row))
        if not sums.any():
            return Slopes(np.zeros_like(sums), np.zeros_like(sums))
        raw = self._code.raw_row(sums)
        gains = self._gains(raw[None], np.array([other]))[0]
        shares = ((raw - self._mean) * gains).reshape(sums.shape)
        if self._code.embedding.log != "aggregate":
            return Slopes(shares, gains.reshape(sums.shape))
        return Slopes(shares, np.divide(shares, sums, out=np.zeros_like(sums), where=sums > 0))

    def _gains(self, raw: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Return the derivatives of cosines by raw rows, at constant length of the vectors, (n, d) float64.

        Args:
            raw: (n, d) raw rows.
            others: (n,) row number of the other word of each cosine.
        """
        white = (raw - self._mean) @ self._matrix
        white -= white.mean(axis=1, keepdims=True)
        lengths = np.linalg.norm(white, axis=1) * self._vectors.norms[others]
        directions = np.asarray(self._vectors.vectors)[others].astype(np.float64)
        directions -= directions.mean(axis=1, keepdims=True)
        scales = np.divide(1, lengths, out=np.zeros(len(raw)), where=lengths > 0)
        return (directions * scales[:, None]) @ self._matrix

    def _slopes_of_rows(self, table: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the slopes for the similarity of each of many rows with itself, (n, blocks, b) float64."""
        raw = table[rows]
        gains = self._gains(raw, rows)
        if self._code.embedding.log == "aggregate":
            # The kernel multiplies slopes by parts of exp(raw), the share of each bit in the sum over all bits.
            gains *= (raw - self._mean) / np.exp(raw)
        return gains.reshape(len(rows), self._code.blocks, -1)
