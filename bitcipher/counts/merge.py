"""Adding up the pairs of many shards, exactly, a range of rows at a time.

Each shard has its own numbers for words. Once they are replaced by ranks in the vocabulary, rows of the same left
word and offset are added up in a dense array of counts, whatever their order; all words outside the vocabulary
have become one, `<oov>`, on the way.
"""

from collections.abc import Sequence

import numpy as np
from numba import njit

from bitcipher.counts.bitset import drain, empty_set, insert
from bitcipher.counts.pairs import PairBlock, concatenate


def renumber(block: PairBlock, ranks: np.ndarray) -> PairBlock:
    """Replace a shard's numbers by ranks.

    Args:
        block: rows with a shard's own numbers.
        ranks: (V,) int32, the rank in the vocabulary of each number.
    """
    return block._replace(left=ranks[block.left], right=ranks[block.right])


def negate(block: PairBlock) -> PairBlock:
    """The same rows, to be subtracted."""
    return block._replace(count=-block.count)


def merge_rows(blocks: Sequence[PairBlock], order: np.ndarray, oov_rank: int) -> tuple[PairBlock, PairBlock]:
    """Add up rows that are numbered by rank.

    Sums are exact. Pairs that add up to 0, which they do where a block was negated, and rows that hold no other
    are left out.

    Args:
        blocks: rows in any order, repeated as often as there are shards, their right words in any order too.
        order: (N,) the place of each rank among the rows (the order of the words' bytes, so that ranges of words
            put behind one another make one order, however they were cut).
        oov_rank: the rank of `<oov>`, or -1 if no word stands for others.

    Returns:
        The rows of words, by `order` and then by offset, right words ascending; and likewise the rows of `<oov>`,
        to which every range of words adds.
    """
    rows = concatenate(blocks)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(rows.length)])
    # One number a row that says where it belongs: by word, then by offset, and `<oov>` behind all words.
    offsets, offset_places = np.unique(rows.offset, return_inverse=True)
    word_places = order[rows.left]
    first = word_places.min(initial=len(order))
    size = int(word_places.max(initial=first)) + 1 - first
    word_places = np.where(rows.left == oov_rank, size, word_places - first)
    walk = _sort_places(word_places * len(offsets) + offset_places, len(offsets) * (size + 1))
    totals = np.zeros(len(order), np.int64)
    merged = PairBlock(*(np.empty_like(column) for column in rows))
    filled_rows, filled = _merge(walk, starts, rows, totals, *empty_set(len(order)), merged)
    merged = PairBlock(*(c[:filled_rows] for c in merged[:3]), *(c[:filled] for c in merged[3:]))
    words = int(np.count_nonzero(merged.left != oov_rank))
    entries = int(merged.length[:words].sum())
    return (
        PairBlock(*(c[:words] for c in merged[:3]), *(c[:entries] for c in merged[3:])),
        PairBlock(*(c[words:] for c in merged[:3]), *(c[entries:] for c in merged[3:])),
    )


@njit(cache=True, nogil=True)
def _sort_places(places, size):
    """The rows in the order of their places, by counting: a sort by comparison takes ten times as long."""
    starts = np.zeros(size + 1, np.int64)
    for place in places:
        starts[place + 1] += 1
    for place in range(size):
        starts[place + 1] += starts[place]
    walk = np.empty(len(places), np.int64)
    for row in range(len(places)):
        walk[starts[places[row]]] = row
        starts[places[row]] += 1
    return walk


@njit(cache=True, nogil=True)
def _merge(walk, starts, rows, totals, low, high, merged):
    filled_rows = 0
    n = 0
    for place in range(len(walk)):
        row = walk[place]
        for entry in range(starts[row], starts[row + 1]):
            right = rows.right[entry]
            if totals[right] == 0:
                insert(low, high, right)
            totals[right] += rows.count[entry]
        following = walk[place + 1] if place + 1 < len(walk) else row
        if following == row or rows.left[following] != rows.left[row] or rows.offset[following] != rows.offset[row]:
            before = n
            n = drain(low, high, totals, merged.right, merged.count, n)
            if n > before:
                merged.left[filled_rows] = rows.left[row]
                merged.offset[filled_rows] = rows.offset[row]
                merged.length[filled_rows] = n - before
                filled_rows += 1
    return filled_rows, n
