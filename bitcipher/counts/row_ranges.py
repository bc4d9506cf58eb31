"""Row ranges: the rows of a range of words in the parts of a segment."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from bitcipher.counts.pairs import PairBlock, read_row_range, read_rows
from bitcipher.counts.segment import iter_word_groups
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

    def split(self) -> list[tuple[int, "RowRange"]]:
        """Return the offset of each row, and the row as a range of its own. No pairs are read."""
        _, offsets, lengths = read_rows(self.part, self.row_start, self.row_stop)
        stops = self.entry_start + np.cumsum(lengths)
        return [
            (offset, RowRange(self.part, row, row + 1, stop - length, stop))
            for row, (offset, length, stop) in enumerate(
                zip(offsets.tolist(), lengths.tolist(), stops.tolist(), strict=True), start=self.row_start
            )
        ]


class LocatedRanges(NamedTuple):
    """Rows of ranges of words in a segment."""

    words: int
    """Number of words of the segment."""
    row_ranges: list[list[RowRange]]
    """Rows of each range, one row range per part that has some."""


def locate_ranges(parts: Sequence[str], ranges: Sequence[WordRange]) -> LocatedRanges:
    """Find the rows of ranges of words in a segment. Few of its words are held in memory.

    Args:
        parts: URIs of the parts of the segment.
        ranges: the ranges of words.
    """
    words = 0
    row_ranges: list[list[RowRange]] = [[] for _ in ranges]
    for part in parts:
        words += sum(group.words for group in iter_word_groups(part))
        for found, row_range in zip(row_ranges, find_row_ranges(part, ranges), strict=True):
            found += [row_range] if row_range else []
    return LocatedRanges(words, row_ranges)


def find_row_ranges(
    part: str, ranges: Sequence[WordRange], on_words: Callable[[pa.Table], None] = lambda words: None
) -> list[RowRange | None]:
    """Return the rows of each range of words in a part; None if there are none.

    Args:
        part: URI of the part.
        ranges: consecutive ranges of words.
        on_words: called with the words of each row group that can have words of the ranges.

    Raises:
        BitcipherError: if the file of words is missing or damaged.
    """
    # Start and stop of each range, in rows and in entries: how many there are in the words before.
    bounds = np.zeros((len(ranges), 2, 2), np.int64)
    for group in iter_word_groups(part) if ranges else ():
        side = group.compare(ranges[0].start, ranges[-1].stop)
        if side < 0:
            bounds += group.sizes()
        if side:
            continue
        table = group.read()
        on_words(table)
        before = [
            np.concatenate([np.zeros(1, np.int64), np.cumsum(table[name].to_numpy().astype(np.int64))])
            for name in ("rows", "entries")
        ]
        for i, each in enumerate(ranges):
            for end, position in enumerate(each.positions(table)):
                bounds[i, end] += [column[position] for column in before]
    return [
        RowRange(part, int(start[0]), int(stop[0]), int(start[1]), int(stop[1])) if start[0] < stop[0] else None
        for start, stop in bounds
    ]
