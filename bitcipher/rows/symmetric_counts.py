"""Counts of some or all words with backward and forward offsets."""

from collections.abc import Iterator

import numpy as np

from bitcipher.counts.merge import merge_rows, negate, renumber
from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.counts.pairs import PairBlock, concatenate, limit_window
from bitcipher.embedding.spectral.ppmi import Marginals, block_count, block_of, opposite_block
from bitcipher.embedding.spectral.transpose import forward_and_backward, transpose


def symmetric_counts(
    counts: MergedCounts, window: int, selected: np.ndarray | None = None, sum_offsets: bool = False
) -> PairBlock:
    """Return the merged rows of words. The rows of a word are adjacent, in the order of offsets -window … window.

    Args:
        counts: counts of a corpus.
        window: the largest offset.
        selected: (N,) bool, the words whose rows are needed, by default all words, which takes longer.
        sum_offsets: whether to add up the counts of all offsets. The offset of the sums is 0.
    """
    vocabulary = counts.vocabulary
    if selected is None:
        blocks = [forward_and_backward(counts, window)]
    else:
        blocks, of_right = [], []
        for found in counts.selected(window, selected):
            blocks.append(limit_window(found.of_left, window))
            of_right.append(limit_window(found.of_right, window))
        blocks.append(transpose(concatenate(of_right), len(vocabulary)))
        del of_right
    if sum_offsets:
        blocks = [block._replace(offset=np.zeros_like(block.offset)) for block in blocks]
    return concatenate(merge_rows(blocks, vocabulary.row_order(), vocabulary.oov_rank))


def stream_marginals(counts: MergedCounts, window: int) -> Marginals:
    """Return the number of pairs of each word, like `compute_marginals`, in one pass that stores no rows."""
    words, summed = len(counts.vocabulary), counts.context_window.summed
    blocks = block_count(window, summed)
    sums = np.zeros((blocks, words), np.int64)
    for partial in _iter_by_rank(counts, window):
        columns = np.repeat(block_of(partial.offset, blocks), partial.length)
        lefts = np.repeat(partial.left, partial.length)
        for column in np.unique(columns):
            in_column = columns == column
            pair_counts = partial.count[in_column]
            # Sums of integers are exact in float64 up to 9e15.
            for block, ends in ((column, lefts), (opposite_block(column, blocks), partial.right)):
                sums[block] += np.bincount(ends[in_column], pair_counts, words).astype(np.int64)
    if not summed:
        sums[-1] = sums[:-1].sum(axis=0)
    return Marginals.of_sums(sums)


def _iter_by_rank(counts: MergedCounts, window: int) -> Iterator[PairBlock]:
    """Yield blocks that add up to the counts, with words numbered by rank."""
    for block, ranks, sign in counts.partials(window):
        partial = renumber(limit_window(block, window), ranks)
        yield negate(partial) if sign < 0 else partial
