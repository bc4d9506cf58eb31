"""Pairs seen from their other end: C₋ₒ = Cₒᵀ."""

import numpy as np
from numba import njit

from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.counts.pairs import PairBlock, concatenate, within


def both_ways(counts: MergedCounts, window: int) -> list[PairBlock]:
    """All pairs of a corpus up to a radius, forward and mirrored, still to be merged."""
    forward = concatenate(within(block, window) for block in counts.rows(window))
    return [forward, mirror(forward, len(counts.vocabulary))]


def mirror(block: PairBlock, words: int) -> PairBlock:
    """The same pairs with right and left exchanged and offsets turned round.

    Args:
        block: rows in any order.
        words: more than any number in the block.

    Returns:
        Rows by left word, those of a word by offset from the nearest backwards, right words in the order of the rows
        that they came from.
    """
    offsets, places = np.unique(block.offset, return_inverse=True)
    lefts, counts, sizes = _exchange(block, places, len(offsets), words)
    used = np.flatnonzero(sizes)
    rows, of_offset = used // max(len(offsets), 1), used % max(len(offsets), 1)
    return PairBlock(rows.astype(np.int32), -offsets[of_offset], sizes[used], lefts, counts)


@njit(cache=True, nogil=True)
def _exchange(block, places, offsets, words):
    """The pairs sorted by right word and place of their offset, and how many there are of each."""
    sizes = np.zeros(words * offsets, np.int64)
    pair = 0
    for row in range(len(block.left)):
        for _ in range(block.length[row]):
            sizes[block.right[pair] * offsets + places[row]] += 1
            pair += 1
    ends = np.cumsum(sizes) - sizes
    lefts, counts = np.empty_like(block.right), np.empty_like(block.count)
    pair = 0
    for row in range(len(block.left)):
        for _ in range(block.length[row]):
            key = block.right[pair] * offsets + places[row]
            lefts[ends[key]] = block.left[row]
            counts[ends[key]] = block.count[pair]
            ends[key] += 1
            pair += 1
    return lefts, counts, sizes
