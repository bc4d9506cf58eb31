"""Temporary files of pairs: an array per column of a `PairBlock`, so a range of rows is read without the others.

They take more space than the Parquet files of counts, but no time for encoding.
"""

from collections.abc import Sequence

import numpy as np

from bitcipher.counts.pairs import PairBlock
from bitcipher.counts.row_ranges import RowRange
from bitcipher.embedding.reused_arrays import ReusedArrays
from pipelines.embed.spectral.array_files import array_file, read_array, read_into, write_arrays

# Counts of a file are stored in the smallest of these types that holds them.
COUNT_TYPES = (np.dtype(np.uint32), np.dtype(np.int64))


def write_pairs(uri: str, block: PairBlock) -> None:
    """Write rows and their pairs to files whose names begin with `uri`."""
    dtype = next(dtype for dtype in COUNT_TYPES if block.count.max(initial=0) <= np.iinfo(dtype).max)
    write_arrays(uri, block._replace(count=block.count.astype(dtype, copy=False)))


def read_left(uri: str) -> np.ndarray:
    """Return the left word of each row, (rows,) int32."""
    return read_array(array_file(uri, "left"))


def read_lengths(uri: str) -> np.ndarray:
    """Return the number of pairs of each row, (rows,) int64."""
    return read_array(array_file(uri, "length"))


def read_all(uri: str) -> PairBlock:
    """Return all rows and pairs."""
    lengths = read_lengths(uri)
    return read_ranges([RowRange(uri, 0, len(lengths), 0, int(lengths.sum()))])


def read_ranges(row_ranges: Sequence[RowRange], arrays: ReusedArrays | None = None) -> PairBlock:
    """Return ranges of rows as one block, in the given order.

    Args:
        row_ranges: the ranges. The part of a range is the URI of the files.
        arrays: memory of the pairs, whose content changes with the next call; by default new memory.
    """
    arrays = arrays or ReusedArrays()
    rows = sum(each.row_stop - each.row_start for each in row_ranges)
    pairs = sum(each.entry_stop - each.entry_start for each in row_ranges)
    result = PairBlock(
        np.empty(rows, np.int32),
        np.empty(rows, np.int16),
        np.empty(rows, np.int64),
        arrays.empty("right", pairs, np.int32),
        arrays.empty("count", pairs, np.int64),
    )
    row = pair = 0
    for each in row_ranges:
        starts = (row, row, row, pair, pair)
        row, pair = row + each.row_stop - each.row_start, pair + each.entry_stop - each.entry_start
        stops = (row, row, row, pair, pair)
        firsts = (each.row_start,) * 3 + (each.entry_start,) * 2
        for name, column, start, stop, first in zip(PairBlock._fields, result, starts, stops, firsts, strict=True):
            read_into(array_file(each.part, name), first, column[start:stop])
    return result
