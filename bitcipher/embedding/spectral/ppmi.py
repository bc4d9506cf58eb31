"""Weights of pairs: positive pointwise mutual information (PPMI), discounted for small counts."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bitcipher.counts.pairs import PairBlock
from bitcipher.embedding.spectral import kernels

# d in the factors n / (n + d), which reduce the weights of small counts n. Pantel & Lin (2002), "Discovering word
# senses from text", use 1.
DISCOUNT = 1.0

# Exponent of the share of a context. Below 1, it keeps rare contexts from getting too much weight (Levy, Goldberg &
# Dagan 2015). 0.75 is the best of the tried values for single offsets; the window has exponent 1. See
# bitcipher/evaluation/README.md.
OFFSET_EXPONENT = 0.75


@dataclass(frozen=True)
class Marginals:
    """Number of pairs of each word in each block.

    The blocks are the offsets -r … -1, 1 … r and, last, the window. Counts that were summed over offsets have only the
    window.

    Attributes:
        sums: (blocks, N) int64. The context sums of a block are the sums of the opposite block, since C₋ₒ = Cₒᵀ.
    """

    sums: np.ndarray

    @property
    def log_sums(self) -> np.ndarray:
        """Log of each word's sum, (blocks, N) float64; -inf for 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.sums)

    @property
    def log_shares(self) -> np.ndarray:
        """Log of each context's share of a block's pairs, smoothed for offsets, (blocks, N) float64."""
        blocks = len(self.sums)
        shares = self.sums[[opposite_block(block, blocks) for block in range(blocks)]].astype(np.float64)
        shares[:-1] **= OFFSET_EXPONENT
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(shares / shares.sum(axis=1, keepdims=True))


class WeightedRows(NamedTuple):
    """Rows of the weighted matrix: words with the weights of their contexts, block after block.

    Attributes:
        words: (n,) int32, ranks of the words.
        starts: (blocks, n + 1) int64, the start of each word's pairs, and the end of the last word's pairs.
        contexts: (pairs,) int32, ranks of the contexts.
        weights: (pairs,) float32, at least 0.
        opposite_weights: (pairs,) float32, weights of the pairs in the rows of their contexts, in the opposite block.
    """

    words: np.ndarray
    starts: np.ndarray
    contexts: np.ndarray
    weights: np.ndarray
    opposite_weights: np.ndarray

    def add(self, block: int, scale: float, table: np.ndarray, result: np.ndarray) -> None:
        """Add a block of these rows times a table, (N, b) float32, to a result, (n, b) float32."""
        kernels.multiply(self.starts[block], self.contexts, self.weights, np.float32(scale), table, result)

    def add_transposed(self, block: int, scale: float, table: np.ndarray, result: np.ndarray) -> None:
        """Add the transpose of a block times a table. Row i of the result is that of word i as a context."""
        starts = self.starts[opposite_block(block, len(self.starts))]
        kernels.multiply(starts, self.contexts, self.opposite_weights, np.float32(scale), table, result)


def block_count(window: int, summed: bool) -> int:
    """Return the number of blocks: one per offset, and one for the window."""
    return 1 if summed else 2 * window + 1


def block_of(offsets: np.ndarray, blocks: int) -> np.ndarray:
    """Return the block of each offset, (n,) int64. Offset 0, which summed counts have, is the window."""
    window = (blocks - 1) // 2
    indices = np.where(offsets < 0, offsets + window, offsets + window - 1)
    return np.where(offsets == 0, blocks - 1, indices).astype(np.int64)


def opposite_block(block: int, blocks: int) -> int:
    """Return the block of the opposite offset. The window is its own opposite."""
    return block if block == blocks - 1 else blocks - 2 - block


def compute_marginals(blocks_of_pairs: Iterable[PairBlock], window: int, summed: bool, words: int) -> Marginals:
    """Return the marginals of forward and backward pairs, which may be in any order."""
    blocks = block_count(window, summed)
    sums = np.zeros((blocks, words), np.int64)
    for block in blocks_of_pairs:
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(block.length)])
        running = np.concatenate([np.zeros(1, np.int64), np.cumsum(block.count)])
        totals = running[starts[1:]] - running[starts[:-1]]
        np.add.at(sums, (block_of(block.offset, blocks), block.left), totals)
    if not summed:
        sums[-1] = sums[:-1].sum(axis=0)
    return Marginals(sums)


def weight_rows(block: PairBlock, marginals: Marginals) -> WeightedRows:
    """Return the weighted rows of some words.

    Args:
        block: all forward and backward pairs of these words, merged; the rows of a word are adjacent, in the order of
            their offsets, -r … r.
        marginals: marginals of all words.
    """
    blocks, words = marginals.sums.shape
    first_rows = np.append(np.flatnonzero(np.diff(block.left, prepend=-1)), len(block.left))
    first_pairs = np.concatenate([np.zeros(1, np.int64), np.cumsum(block.length)])
    sizes, contexts, weights = kernels.weight_pairs(
        block,
        first_pairs,
        first_rows,
        block_of(block.offset, blocks),
        marginals.sums,
        marginals.log_sums,
        marginals.log_shares,
        DISCOUNT,
        words,
    )
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    indices = np.arange(blocks)[:, None] * (len(first_rows) - 1) + np.arange(len(first_rows))
    starts = ends[indices]
    return WeightedRows(block.left[first_rows[:-1]], starts, *kernels.sort_by_block(sizes, starts, contexts, weights))
