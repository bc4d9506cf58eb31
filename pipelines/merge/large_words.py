"""Rows of a word that has too many pairs for the memory of a worker, in pieces that fit.

A piece has the pairs at one offset whose right words have a range of numbers in the merged segment. The rows are read
once to choose these ranges, and once for each piece, one stored row at a time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from bitcipher.counts.merge import negate, renumber
from bitcipher.counts.number_set import NumberSet
from bitcipher.counts.pairs import PairBlock, select_pairs
from bitcipher.counts.segment_words import cut_ranges
from pipelines.merge.merge_records import RangeRows
from pipelines.merge.number_tables import SliceCache

# Number of intervals of word numbers whose pairs are counted to choose the pieces.
INTERVALS = 1 << 16


class NumberedRows(NamedTuple):
    """Rows with positions in place of word numbers.

    Attributes:
        blocks: the rows.
        numbers: (n,) int32, the number of each position in the merged segment.
    """

    blocks: list[PairBlock]
    numbers: np.ndarray


def read_numbered(rows: RangeRows, cache: SliceCache) -> NumberedRows:
    """Read rows of an operand. Counts to subtract are negative.

    Args:
        rows: the rows.
        cache: cache of the slice of numbers that was read last.
    """
    read = [row_range.read(rows.numbers.rows) for row_range in rows.row_ranges]
    own = NumberSet.of((column for block in read for column in (block.left, block.right)), rows.numbers.rows)
    blocks: list[PairBlock] = []
    while read:
        block = _replace_numbers(read.pop(), own)
        blocks.append(block if rows.sign > 0 else negate(block))
    return NumberedRows(blocks, rows.numbers.read(own.members, cache)[:, 0])


def iter_pieces(rows: Sequence[RangeRows], size: int, piece_entries: int) -> Iterator[Iterator[NumberedRows]]:
    """Yield the rows of each piece, by offset and then by the numbers of the right words.

    Args:
        rows: rows of one word in each operand.
        size: number of words of the merged segment.
        piece_entries: maximum number of pairs of a piece, in all operands. A piece can exceed it by the pairs of an
            interval of word numbers.
    """
    by_offset: dict[int, list[RangeRows]] = {}
    for operand in rows:
        for row_range in operand.row_ranges:
            for offset, row in row_range.split():
                by_offset.setdefault(offset, []).append(replace(operand, row_ranges=[row]))
    width = -(-size // INTERVALS)
    for _, of_offset in sorted(by_offset.items()):
        entries = np.zeros(-(-size // width), np.int64)
        for (block,), numbers in _read_each(of_offset):
            entries += np.bincount(numbers[block.right] // width, minlength=len(entries))
        for start, stop in cut_ranges(entries, piece_entries):
            yield _select(of_offset, start * width, stop * width, size)


def _read_each(rows: Sequence[RangeRows]) -> Iterator[NumberedRows]:
    cache = SliceCache()
    for row in rows:
        yield read_numbered(row, cache)


def _select(rows: Sequence[RangeRows], start: int, stop: int, size: int) -> Iterator[NumberedRows]:
    """Yield the pairs whose right words have the numbers from `start` on and before `stop`."""
    for (block,), numbers in _read_each(rows):
        selected = (start <= numbers) & (numbers < stop)
        block = renumber(select_pairs(block, selected[block.right]), numbers)
        used = NumberSet.of((block.left, block.right), size)
        yield NumberedRows([_replace_numbers(block, used)], used.members)


def _replace_numbers(block: PairBlock, numbers: NumberSet) -> PairBlock:
    return block._replace(left=numbers.positions(block.left), right=numbers.positions(block.right))
