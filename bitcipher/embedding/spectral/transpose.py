"""Transposition of pair counts: the count matrix of offset -o is the transpose of that of offset o."""

import numpy as np

from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.counts.pairs import PairBlock, limit_window
from bitcipher.kernel_cache import kernel


def forward_and_backward(counts: MergedCounts, window: int) -> PairBlock:
    """Return the pairs of a corpus with offsets up to `window`, and after them the same pairs transposed.

    Right words are ascending in forward rows, and in the order of `counts.rows` in backward rows. If the counts were
    summed over offsets, a word can have a row in both halves.
    """
    blocks = [limit_window(block, window) for block in counts.rows(window)]
    pairs = sum(len(block.right) for block in blocks)
    # Both halves are in one array from the start, because a copy of all pairs would take most of the memory.
    rights, pair_counts = np.empty(2 * pairs, np.int32), np.empty(2 * pairs, np.int64)
    left = _join([block.left for block in blocks], np.int32)
    offset = _join([block.offset for block in blocks], np.int16)
    length = _join([block.length for block in blocks], np.int64)
    at = 0
    while blocks:
        block = blocks.pop(0)
        rights[at : at + len(block.right)] = block.right
        pair_counts[at : at + len(block.right)] = block.count
        at += len(block.right)
    forward = PairBlock(left, offset, length, rights[:pairs], pair_counts[:pairs])
    backward = _transpose(forward, len(counts.vocabulary), rights[pairs:], pair_counts[pairs:])
    return PairBlock(
        np.concatenate([left, backward.left]),
        np.concatenate([offset, backward.offset]),
        np.concatenate([length, backward.length]),
        rights,
        pair_counts,
    )


def transpose(block: PairBlock, words: int) -> PairBlock:
    """Return pairs with left and right words exchanged and offsets negated.

    Args:
        block: rows in any order.
        words: number of words; greater than any number in the block.

    Returns:
        Rows in the order of left words, then of offsets, -1 first. Right words have the order of the input rows.
    """
    return _transpose(block, words, np.empty_like(block.right), np.empty_like(block.count))


def _join(columns: list[np.ndarray], dtype: type) -> np.ndarray:
    """Return one array with the elements of all columns, of which there can be none."""
    return np.concatenate([np.empty(0, dtype), *columns])


def _transpose(block: PairBlock, words: int, rights: np.ndarray, counts: np.ndarray) -> PairBlock:
    """Return the transposed pairs.

    Args:
        block: the rows to transpose.
        words: number of words.
        rights: (pairs,) int32, array for the right words of the result.
        counts: (pairs,) int64, array for the counts of the result.
    """
    offsets, offset_indices = np.unique(block.offset, return_inverse=True)
    starts = np.cumsum(block.length) - block.length
    sizes = _exchange(block, starts, offset_indices, len(offsets), words, rights, counts)
    used = np.flatnonzero(sizes)
    lefts, indices = used // max(len(offsets), 1), used % max(len(offsets), 1)
    return PairBlock(lefts.astype(np.int32), -offsets[indices], sizes[used], rights, counts)


@kernel
def _exchange(block, starts, offset_indices, offsets, words, rights, counts):
    """Write the pairs sorted by right word and offset index, and return the number of pairs of each combination.

    Args:
        block: the pairs.
        starts: (rows,) int64, the start of each row's pairs.
        offset_indices: (rows,) int64, index of the offset of each row.
        offsets: number of offsets.
        words: number of words.
        rights: (pairs,) int32, output: the left words.
        counts: (pairs,) int64, output: the counts.

    Returns:
        (words · offsets,) int64.
    """
    sizes = np.zeros(words * offsets, np.int64)
    for row in range(len(starts)):
        for pair in range(starts[row], starts[row] + block.length[row]):
            sizes[block.right[pair] * offsets + offset_indices[row]] += 1
    ends = np.cumsum(sizes) - sizes
    for row in range(len(starts)):
        for pair in range(starts[row], starts[row] + block.length[row]):
            key = block.right[pair] * offsets + offset_indices[row]
            rights[ends[key]] = block.left[row]
            counts[ends[key]] = block.count[pair]
            ends[key] += 1
    return sizes
