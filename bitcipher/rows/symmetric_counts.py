"""Counts of some words or of all, with what stands before them beside what stands behind them."""

from collections.abc import Iterator

import numpy as np

from bitcipher.counts.merge import merge_rows, negate, renumber
from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.counts.pairs import PairBlock, concatenate, within
from bitcipher.embedding.spectral.ppmi import Marginals, block_count, block_of, mirror_of
from bitcipher.embedding.spectral.transpose import both_ways, mirror


def symmetric_counts(
    counts: MergedCounts, window: int, chosen: np.ndarray | None = None, together: bool = False
) -> PairBlock:
    """The rows of words, merged: those of a word together, in the order of their offsets, -radius … radius.

    Args:
        counts: of a corpus.
        window: the largest offset that is taken.
        chosen: (N,) bool, whose rows are wanted; those of all words if not given, which takes longer.
        together: add all offsets up, as offset 0.
    """
    vocabulary = counts.vocabulary
    if chosen is None:
        blocks = both_ways(counts, window)
    else:
        blocks = [
            block
            for part in _parts(counts, window)
            for block in (_with_left(part, chosen), mirror(_with_right(part, chosen), len(vocabulary)))
        ]
    if together:
        blocks = [block._replace(offset=np.zeros_like(block.offset)) for block in blocks]
    return concatenate(merge_rows(blocks, vocabulary.row_order(), vocabulary.oov_rank))


def chosen_marginals(counts: MergedCounts, window: int) -> Marginals:
    """The marginals of all words, by one walk that keeps no rows; see `bitcipher.embedding.spectral.add_up`."""
    words, summed = len(counts.vocabulary), counts.context_window.summed
    blocks = block_count(window, summed)
    sums = np.zeros((blocks, words), np.int64)
    for part in _parts(counts, window):
        columns = np.repeat(block_of(part.offset, blocks), part.length)
        lefts = np.repeat(part.left, part.length)
        for column in np.unique(columns):
            of_column = columns == column
            numbers = part.count[of_column]
            # Sums of whole numbers stay exact in float64 up to 9e15.
            for block, ends in ((column, lefts), (mirror_of(column, blocks), part.right)):
                sums[block] += np.bincount(ends[of_column], numbers, words).astype(np.int64)
    if not summed:
        sums[-1] = sums[:-1].sum(axis=0)
    return Marginals(sums)


def _parts(counts: MergedCounts, window: int) -> Iterator[PairBlock]:
    """The pieces of the counts, by rank."""
    for block, ranks, sign in counts.parts(window):
        piece = renumber(within(block, window), ranks)
        yield negate(piece) if sign < 0 else piece


def _with_left(block: PairBlock, chosen: np.ndarray) -> PairBlock:
    """The rows of chosen words."""
    kept = chosen[block.left]
    pairs = np.repeat(kept, block.length)
    return PairBlock(*(column[kept] for column in block[:3]), *(column[pairs] for column in block[3:]))


def _with_right(block: PairBlock, chosen: np.ndarray) -> PairBlock:
    """The pairs whose right word is chosen."""
    pairs = chosen[block.right]
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(pairs)])
    ends = np.cumsum(block.length)
    lengths = before[ends] - before[ends - block.length]
    rows = lengths > 0
    return PairBlock(block.left[rows], block.offset[rows], lengths[rows], block.right[pairs], block.count[pairs])
