"""Transposition of pair counts: the count matrix of offset -o is the transpose of that of offset o."""

import numpy as np
from numba import njit

from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.counts.pairs import PairBlock, concatenate, limit_window


def forward_and_backward(counts: MergedCounts, window: int) -> list[PairBlock]:
    """Return the pairs of a corpus with offsets up to `window` in one block, and their transpose in another."""
    forward = concatenate(limit_window(block, window) for block in counts.rows(window))
    return [forward, transpose(forward, len(counts.vocabulary))]


def transpose(block: PairBlock, words: int) -> PairBlock:
    """Return pairs with left and right words exchanged and offsets negated.

    Args:
        block: rows in any order.
        words: number of words; greater than any number in the block.

    Returns:
        Rows in the order of left words, then of offsets, -1 first. Right words have the order of the input rows.
    """
    offsets, offset_indices = np.unique(block.offset, return_inverse=True)
    lefts, counts, sizes = _exchange(block, offset_indices, len(offsets), words)
    used = np.flatnonzero(sizes)
    rows, indices = used // max(len(offsets), 1), used % max(len(offsets), 1)
    return PairBlock(rows.astype(np.int32), -offsets[indices], sizes[used], lefts, counts)


@njit(cache=True, nogil=True)
def _exchange(block, offset_indices, offsets, words):
    """Return the pairs sorted by right word and offset index, and the number of pairs of each combination.

    Returns:
        Left words, (pairs,) int32; counts, (pairs,) int64; and the numbers of pairs, (words · offsets,) int64.
    """
    sizes = np.zeros(words * offsets, np.int64)
    pair = 0
    for row in range(len(block.left)):
        for _ in range(block.length[row]):
            sizes[block.right[pair] * offsets + offset_indices[row]] += 1
            pair += 1
    ends = np.cumsum(sizes) - sizes
    lefts, counts = np.empty_like(block.right), np.empty_like(block.count)
    pair = 0
    for row in range(len(block.left)):
        for _ in range(block.length[row]):
            key = block.right[pair] * offsets + offset_indices[row]
            lefts[ends[key]] = block.left[row]
            counts[ends[key]] = block.count[pair]
            ends[key] += 1
            pair += 1
    return lefts, counts, sizes
