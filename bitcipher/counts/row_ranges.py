"""Row ranges: the rows of a range of words in the parts of a segment."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from bitcipher.counts.pairs import PairBlock, read_row_range
from bitcipher.counts.segment import read_words
from bitcipher.counts.word_ranges import WordRange


class RowRange(NamedTuple):
    """Consecutive rows of a part, and the entries (stored pairs) of these rows."""

    part: str
    """URI of the part."""
    row_start: int
    """First row."""
    row_stop: int
    """Row after the last one."""
    entry_start: int
    """First entry of the first row."""
    entry_stop: int
    """Entry after the last one of the last row."""

    def read(self, words: int) -> PairBlock:
        """Return the rows, with the segment's word numbers, which are below `words`."""
        return read_row_range(self.part, (self.row_start, self.row_stop), (self.entry_start, self.entry_stop), words)


class LocatedRanges(NamedTuple):
    """Rows of ranges of words in a segment."""

    words: int
    """Number of words of the segment."""
    row_ranges: list[list[RowRange]]
    """Rows of each range, one row range per part that has some."""


def locate_ranges(parts: Sequence[str], ranges: Sequence[WordRange]) -> LocatedRanges:
    """Find the rows of ranges of words in a segment. Parts are read one by one.

    Args:
        parts: URIs of the parts of the segment.
        ranges: the ranges of words.
    """
    size = 0
    row_ranges: list[list[RowRange]] = [[] for _ in ranges]
    for part in parts:
        words = read_words([part])
        size += len(words)
        for found, row_range in zip(row_ranges, find_row_ranges(part, words, ranges), strict=True):
            found += [row_range] if row_range else []
    return LocatedRanges(size, row_ranges)


def find_row_ranges(part: str, words: pa.Table, ranges: Sequence[WordRange]) -> list[RowRange | None]:
    """Return the rows of each range of words in a part; None if there are none.

    Args:
        part: URI of the part.
        words: words of the part, from `read_words`.
        ranges: the ranges of words.
    """
    rows, entries = (
        np.concatenate([np.zeros(1, np.int64), np.cumsum(words[name].to_numpy().astype(np.int64))])
        for name in ("rows", "entries")
    )
    bounds = (each.positions(words) for each in ranges)
    return [
        RowRange(part, *map(int, (rows[start], rows[stop], entries[start], entries[stop])))
        if rows[start] < rows[stop]
        else None
        for start, stop in bounds
    ]
