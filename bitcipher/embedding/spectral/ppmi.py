"""Weights of pairs: positive pointwise mutual information (PPMI), reduced for small counts.

The weighted matrix M has one row per word and several blocks of columns: one per offset -r … -1, 1 … r (r is the window
size), and last the window block, in which the counts of all offsets are added up. Each block has one column per context
word. If the counts were summed over offsets while counting, M has only the window block.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bitcipher.counts.pairs import PairBlock
from bitcipher.embedding.reused_arrays import ReusedArrays
from bitcipher.embedding.spectral import kernels
from bitcipher.embedding.spectral.operand import Operand

# d in the factors n / (n + d), which reduce the weights of small counts n. Pantel & Lin (2002), "Discovering word
# senses from text", use 1.
DISCOUNT = 1.0

# Exponent of the probability of a context word. Below 1, it keeps rare context words from getting too much weight
# (Levy, Goldberg & Dagan 2015). For the blocks of offsets, 0.75 gives the best vectors of the values that were tested;
# the window block has exponent 1. See docs/quality.md.
OFFSET_EXPONENT = 0.75


@dataclass(frozen=True)
class Marginals:
    """Number of pairs of each word in each block of the weighted matrix.

    Attributes:
        sums: (blocks, N) int64, number of pairs with each word on the left. The number of pairs with a word on the
            right is the sum of the word in the block of the opposite offset.
        all_shares: (blocks,) float64, sum over the whole vocabulary of these numbers, raised to `OFFSET_EXPONENT` in
            blocks of offsets.
    """

    sums: np.ndarray
    all_shares: np.ndarray

    @classmethod
    def of_sums(cls, sums: np.ndarray) -> "Marginals":
        """Return the marginals of all words of the vocabulary, given their sums."""
        return cls(sums, np.array([shares.sum() for shares in _iter_shares(sums)]))

    def take(self, words: np.ndarray) -> "Marginals":
        """Return the marginals of some words, given by rank. Their terms are the same."""
        return Marginals(self.sums[:, words], self.all_shares)

    @cached_property
    def terms(self) -> np.ndarray:
        """Terms of the weights of a word's pairs, (blocks, N, 3) float64, adjacent in memory.

        They are the natural log of the number n of pairs with the word on the left; the log of its share as a context
        word in the opposite block; and the factor n / (n + d), with d = `DISCOUNT`. In blocks of offsets, the numbers
        of pairs of context words are raised to the power of `OFFSET_EXPONENT` first. The log of 0 is -inf.
        """
        terms = np.empty((*self.sums.shape, 3))
        with np.errstate(divide="ignore", invalid="ignore"):
            for block, (sums, shares) in enumerate(zip(self.sums, _iter_shares(self.sums), strict=True)):
                terms[block, :, 0] = np.log(sums)
                terms[block, :, 1] = np.log(shares / self.all_shares[block])
                terms[block, :, 2] = sums / (sums + DISCOUNT)
        return terms


def _iter_shares(sums: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the shares of the words in each block, (N,) float64. All of them would take as much memory as the sums."""
    for block, sums_of_block in enumerate(sums):
        shares = sums_of_block.astype(np.float64)
        if block < len(sums) - 1:
            shares **= OFFSET_EXPONENT
        yield shares


class WeightedRows(NamedTuple):
    """Some rows of the weighted matrix, as pairs of words and context words, block after block.

    Attributes:
        words: (n,) int32, ranks of the words.
        columns: (n,) int32, the column of each word as a context word, or -1.
        starts: (blocks, n + 1) int64, the start of each word's pairs, and the end of the last word's pairs.
        contexts: (pairs,) int32, column of the context word of each pair.
        weights: (pairs,) float32, weight of each pair in the row of the word, at least 0.
        opposite_weights: (pairs,) float32, weight of each pair in the row of the context word, in the opposite block.
    """

    words: np.ndarray
    columns: np.ndarray
    starts: np.ndarray
    contexts: np.ndarray
    weights: np.ndarray
    opposite_weights: np.ndarray

    def add(self, block: int, scale: float, table: Operand, targets: np.ndarray, result: np.ndarray) -> None:
        """Add scale · Mⱼ · table to `result` for these rows of the block j.

        Args:
            block: the block j.
            scale: factor of all weights.
            table: (m, b), rows of the first m columns. Pairs in other columns are left out.
            targets: (n,) int64, the row of the result for each word, or -1 for words to leave out.
            result: (k, b) float32, updated in place.
        """
        kernels.multiply(self.starts[block], self.contexts, self.weights, np.float32(scale), targets, table, result)

    def add_transposed(self, block: int, scale: float, table: Operand, targets: np.ndarray, result: np.ndarray) -> None:
        """Add scale · Mⱼᵀ · table to `result` for the rows of Mⱼᵀ of these words. The arguments are those of `add`."""
        starts = self.starts[opposite_block(block, len(self.starts))]
        kernels.multiply(starts, self.contexts, self.opposite_weights, np.float32(scale), targets, table, result)

    def targets(self, columns: int) -> np.ndarray:
        """Return the column of each word of the first `columns`, and -1 for the other words, (n,) int32."""
        return np.where(self.columns < columns, self.columns, -1)


def block_count(window: int, summed: bool) -> int:
    """Return the number of blocks: one per offset and one for the window, or only the latter for summed counts."""
    return 1 if summed else 2 * window + 1


def block_of(offsets: np.ndarray, blocks: int) -> np.ndarray:
    """Return the block of each offset, (n,) int64. Offset 0, which summed counts have, belongs to the window block."""
    window = (blocks - 1) // 2
    indices = np.where(offsets < 0, offsets + window, offsets + window - 1)
    return np.where(offsets == 0, blocks - 1, indices).astype(np.int64)


def offset_of(block: int, blocks: int) -> int:
    """Return the offset of a block, 0 for the window block."""
    window = (blocks - 1) // 2
    return 0 if block == blocks - 1 else block - window + int(block >= window)


def opposite_block(block: int, blocks: int) -> int:
    """Return the block of the opposite offset. The window block is its own opposite."""
    return block if block == blocks - 1 else blocks - 2 - block


def compute_marginals(blocks_of_pairs: Iterable[PairBlock], window: int, summed: bool, words: int) -> Marginals:
    """Return the marginals of pairs. The arguments are those of `sum_counts`."""
    return Marginals.of_sums(sum_counts(blocks_of_pairs, window, summed, words))


def sum_counts(blocks_of_pairs: Iterable[PairBlock], window: int, summed: bool, words: int) -> np.ndarray:
    """Return the number of pairs of each word in each block of the weighted matrix, (blocks, N) int64.

    Args:
        blocks_of_pairs: the pairs of all offsets, forward and backward, in any order.
        window: the largest offset.
        summed: whether the counts were summed over offsets.
        words: number of words N.
    """
    blocks = block_count(window, summed)
    sums = np.zeros((blocks, words), np.int64)
    for block in blocks_of_pairs:
        kernels.add_counts(block, block_of(block.offset, blocks), sums)
    if not summed:
        sums[-1] = sums[:-1].sum(axis=0)
    return sums


def weight_rows(
    block: PairBlock,
    marginals: Marginals,
    columns: np.ndarray,
    rows: np.ndarray | None = None,
    arrays: ReusedArrays | None = None,
) -> WeightedRows:
    """Return the weighted rows of some words.

    Args:
        block: forward and backward pairs.
        marginals: marginals of all words.
        columns: (N,) int32, the column of each word as a context word, or -1 for words to leave out.
        rows: (rows,) int64, indices of all rows of these words. The rows of a word are adjacent, in ascending order of
            their offsets; several can have the same offset. By default, all rows in the order of the block.
        arrays: memory of the result, whose content changes with the next call; by default new memory.
    """
    blocks = len(marginals.sums)
    starts = np.cumsum(block.length) - block.length
    if rows is not None:
        block = block._replace(left=block.left[rows], offset=block.offset[rows], length=block.length[rows])
        starts = starts[rows]
    first_rows = np.append(np.flatnonzero(np.diff(block.left, prepend=-1)), len(block.left))
    # The window has no more pairs than all offsets together. What is behind the last pair with a weight is never used,
    # so it takes no memory.
    pairs = 2 * int(block.length.sum())
    arrays = arrays or ReusedArrays()
    contexts = arrays.empty("contexts", pairs, np.int32)
    weights, opposite_weights = (arrays.empty(name, pairs, np.float32) for name in ("weights", "opposite weights"))
    ends = kernels.weight_pairs(
        block,
        starts,
        first_rows,
        block_of(block.offset, blocks),
        marginals.terms,
        DISCOUNT,
        columns,
        contexts,
        weights,
        opposite_weights,
    )
    words, used = block.left[first_rows[:-1]], slice(0, int(ends[-1, -1]))
    return WeightedRows(words, columns[words], ends, contexts[used], weights[used], opposite_weights[used])
