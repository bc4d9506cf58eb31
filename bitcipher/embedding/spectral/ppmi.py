"""Weights of pairs: positive pointwise mutual information, discounted where little was counted."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bitcipher.counts.pairs import PairBlock
from bitcipher.embedding.spectral import kernels

# Pairs taken off the certainty of each weight (Pantel & Lin 2002, "Discovering word senses from text", who take 1).
DISCOUNT = 1.0

# How much the share of a context counts: less than 1 keeps rare contexts from weighing too much (Levy, Goldberg & Dagan
# 2015). Best of those tried at an offset; in the window shares count as they are. See bitcipher/evaluation/README.md.
OFFSET_EXPONENT = 0.75


@dataclass(frozen=True)
class Marginals:
    """How many pairs each word has in each block.

    Blocks are the offsets -r … -1, 1 … r and last the whole window; of counts that were summed while counting there is
    the window alone.

    Attributes:
        sums: (blocks, N) int64. Those of the mirrored block are those of the contexts, for C₋ₒ = Cₒᵀ.
    """

    sums: np.ndarray

    @property
    def log_sums(self) -> np.ndarray:
        """(blocks, N) float64, the log of each word's sum; -inf where there is none."""
        with np.errstate(divide="ignore"):
            return np.log(self.sums)

    @property
    def log_shares(self) -> np.ndarray:
        """(blocks, N) float64, the log of each context's share of a block's pairs, evened at offsets."""
        blocks = len(self.sums)
        shares = self.sums[[mirror_of(block, blocks) for block in range(blocks)]].astype(np.float64)
        shares[:-1] **= OFFSET_EXPONENT
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(shares / shares.sum(axis=1, keepdims=True))


class WeightedRows(NamedTuple):
    """Rows of the matrix that is factored: words with the weights of what stands around them, block after block.

    Attributes:
        words: (n,) int32, their ranks.
        starts: (blocks, n + 1) int64, where the pairs of each word start, and those of the last one end.
        contexts: (pairs,) int32, ranks.
        weights: (pairs,) float32, at least 0.
        mirrored: (pairs,) float32, what the pairs weigh in the rows of their contexts, in the mirrored block.
    """

    words: np.ndarray
    starts: np.ndarray
    contexts: np.ndarray
    weights: np.ndarray
    mirrored: np.ndarray

    def add(self, block: int, scale: float, table: np.ndarray, result: np.ndarray) -> None:
        """Add a block of these rows times a table, (N, b) float32, to a result, (n, b) float32."""
        kernels.multiply(self.starts[block], self.contexts, self.weights, np.float32(scale), table, result)

    def add_transposed(self, block: int, scale: float, table: np.ndarray, result: np.ndarray) -> None:
        """The same for the transpose of a block: what these words are as contexts."""
        starts = self.starts[mirror_of(block, len(self.starts))]
        kernels.multiply(starts, self.contexts, self.mirrored, np.float32(scale), table, result)


def block_count(window: int, summed: bool) -> int:
    """How many blocks there are: the offsets and the window."""
    return 1 if summed else 2 * window + 1


def block_of(offsets: np.ndarray, blocks: int) -> np.ndarray:
    """The block of each offset, (n,) int64: that of the window for offset 0, which is that of summed counts."""
    window = (blocks - 1) // 2
    places = np.where(offsets < 0, offsets + window, offsets + window - 1)
    return np.where(offsets == 0, blocks - 1, places).astype(np.int64)


def mirror_of(block: int, blocks: int) -> int:
    """The block of the opposite offset: the window's is itself."""
    return block if block == blocks - 1 else blocks - 2 - block


def add_up(blocks_of_pairs: Iterable[PairBlock], window: int, summed: bool, words: int) -> Marginals:
    """The marginals of pairs in both directions, in any order and pieces."""
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


def weigh(block: PairBlock, marginals: Marginals) -> WeightedRows:
    """The rows of some words.

    Args:
        block: all pairs of these words in both directions, merged: the rows of a word together, in the order of their
            offsets, -r … r.
        marginals: of all words.
    """
    blocks, words = marginals.sums.shape
    first_rows = np.append(np.flatnonzero(np.diff(block.left, prepend=-1)), len(block.left))
    first_pairs = np.concatenate([np.zeros(1, np.int64), np.cumsum(block.length)])
    kept, contexts, weights = kernels.weigh(
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
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])
    places = np.arange(blocks)[:, None] * (len(first_rows) - 1) + np.arange(len(first_rows))
    return WeightedRows(
        block.left[first_rows[:-1]], ends[places], *kernels.by_block(kept, ends[places], contexts, weights)
    )
