"""Order of rows of pairs by word and offset, in which they are weighted."""

import numpy as np

from bitcipher.counts.pairs import PairBlock
from bitcipher.kernel_cache import kernel


def order_rows(block: PairBlock, words: int) -> np.ndarray:
    """Return the indices that sort rows by left word, then by offset, (rows,) int64. Equal rows keep their order.

    Args:
        block: the rows.
        words: number of words; greater than any number in the block.
    """
    lowest = int(block.offset.min(initial=0))
    return _order_rows(block.left, block.offset, words, lowest, int(block.offset.max(initial=0)) - lowest + 1)


@kernel
def _order_rows(left, offset, words, lowest, offsets):
    """Sort rows by offset, and then by word, without comparisons, which take several times as long."""
    starts = np.zeros(offsets + 1, np.int64)
    for row in range(len(left)):
        starts[offset[row] - lowest + 1] += 1
    starts = np.cumsum(starts)
    by_offset = np.empty(len(left), np.int64)
    for row in range(len(left)):
        key = offset[row] - lowest
        by_offset[starts[key]] = row
        starts[key] += 1
    starts = np.zeros(words + 1, np.int64)
    for row in range(len(left)):
        starts[left[row] + 1] += 1
    starts = np.cumsum(starts)
    order = np.empty(len(left), np.int64)
    for row in by_offset:
        order[starts[left[row]]] = row
        starts[left[row]] += 1
    return order
