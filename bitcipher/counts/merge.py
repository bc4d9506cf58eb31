"""Exact addition of the pairs of many shards, one range of rows at a time.

Each shard has its own numbering of words. The numbers are first replaced by ranks; words outside the vocabulary get the
rank of `<oov>`. Rows with the same left word and offset are then added up in a dense array of counts, in any order.
"""

from collections.abc import Sequence

import numpy as np

from bitcipher.counts.bitset import drain, empty_set, insert
from bitcipher.counts.pairs import PairBlock, concatenate
from bitcipher.counts.segment_ranks import SegmentRanks
from bitcipher.kernel_cache import kernel


def renumber(block: PairBlock, ranks: np.ndarray | SegmentRanks) -> PairBlock:
    """Replace a shard's word numbers by ranks.

    Args:
        block: rows in the numbering of a shard.
        ranks: rank in the vocabulary of each of V numbers, (V,) int32 or the ranks of a segment.
    """
    return block._replace(left=ranks[block.left], right=ranks[block.right])


def negate(block: PairBlock) -> PairBlock:
    """Return the same rows with negated counts, for subtraction."""
    return block._replace(count=-block.count)


def merge_rows(blocks: Sequence[PairBlock], order: np.ndarray, oov_rank: int) -> tuple[PairBlock, PairBlock]:
    """Add up rows that are numbered by rank.

    Sums are exact. Pairs with the sum 0, which occur after subtraction, and rows without other pairs are left out.

    Args:
        blocks: rows in any order, with right words in any order. Several blocks can have rows of the same left word
            and offset.
        order: (N,) int64, the position of each rank in the order of the words' bytes. The output has this order, so
            merged ranges of words can be concatenated.
        oov_rank: rank of `<oov>`, or -1 if there is no such entry.

    Returns:
        Two blocks. The first has the rows of all words except `<oov>`, in `order` and then by offset, with right words
        ascending. The second has the rows of `<oov>`, to which every range of words contributes.
    """
    rows = concatenate(blocks)
    starts = np.zeros(len(rows.left) + 1, np.int64)
    np.cumsum(rows.length, out=starts[1:])
    sorted_rows = _sort_rows(rows.left, rows.offset, order, oov_rank)
    totals = np.zeros(len(order), np.int64)
    merged = PairBlock(*(np.empty_like(column) for column in rows))
    filled_rows, filled = _merge(sorted_rows, starts, rows, totals, *empty_set(len(order)), merged)
    merged = PairBlock(*(c[:filled_rows] for c in merged[:3]), *(c[:filled] for c in merged[3:]))
    words = int(np.count_nonzero(merged.left != oov_rank))
    entries = int(merged.length[:words].sum())
    return (
        PairBlock(*(c[:words] for c in merged[:3]), *(c[:entries] for c in merged[3:])),
        PairBlock(*(c[words:] for c in merged[:3]), *(c[entries:] for c in merged[3:])),
    )


@kernel
def _sort_rows(left, offset, order, oov_rank):
    """Return the rows in the order of their words, then of offsets, with `<oov>` after all words, (rows,) int64.

    A comparison sort takes ten times as long. Keys are computed twice, because they would take 8 bytes per row.
    """
    first, stop, lowest, highest = len(order), 0, 0, 0
    for row in range(len(left)):
        position, own = order[left[row]], np.int64(offset[row])
        first, stop = min(first, position), max(stop, position + 1)
        lowest, highest = min(lowest, own), max(highest, own)  # transposed rows have negative offsets
    smaller = np.zeros(highest - lowest + 2, np.int64)  # how many of the offsets that occur are smaller
    for row in range(len(left)):
        smaller[offset[row] - lowest + 1] = 1
    for each in range(len(smaller) - 1):
        smaller[each + 1] += smaller[each]
    used = smaller[-1]
    starts = np.zeros(used * (max(stop - first, 0) + 1) + 1, np.int64)
    for row in range(len(left)):
        word = stop - first if left[row] == oov_rank else order[left[row]] - first
        starts[word * used + smaller[offset[row] - lowest] + 1] += 1
    for key in range(len(starts) - 1):
        starts[key + 1] += starts[key]
    sorted_rows = np.empty(len(left), np.int64)
    for row in range(len(left)):
        word = stop - first if left[row] == oov_rank else order[left[row]] - first
        key = word * used + smaller[offset[row] - lowest]
        sorted_rows[starts[key]] = row
        starts[key] += 1
    return sorted_rows


@kernel
def _merge(sorted_rows, starts, rows, totals, low, high, merged):
    filled_rows = 0
    n = 0
    for position in range(len(sorted_rows)):
        row = sorted_rows[position]
        for entry in range(starts[row], starts[row + 1]):
            right = rows.right[entry]
            if totals[right] == 0:
                insert(low, high, right)
            totals[right] += rows.count[entry]
        following = sorted_rows[position + 1] if position + 1 < len(sorted_rows) else row
        if following == row or rows.left[following] != rows.left[row] or rows.offset[following] != rows.offset[row]:
            before = n
            n = drain(low, high, totals, merged.right, merged.count, n)
            if n > before:
                merged.left[filled_rows] = rows.left[row]
                merged.offset[filled_rows] = rows.offset[row]
                merged.length[filled_rows] = n - before
                filled_rows += 1
    return filled_rows, n
