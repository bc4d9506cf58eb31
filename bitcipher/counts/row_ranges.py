"""Row ranges: the rows of a range of words in the parts of a segment."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from bitcipher.counts.pairs import PairBlock, read_row_range


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


def find_row_ranges(
    parts: Sequence[str], tables: Sequence[pa.Table], first_words: Sequence[bytes]
) -> list[list[RowRange]]:
    """Return the row ranges of each range of words. A range ends where the next one begins.

    Args:
        parts: URIs of the parts of a segment, in order.
        tables: words of each part, from `read_words`.
        first_words: first word of each range, sorted.
    """
    found: list[list[RowRange]] = [[] for _ in first_words]
    for part, table in zip(parts, tables, strict=True):
        words = table["word"].combine_chunks()
        rows, entries = (
            np.concatenate([np.zeros(1, np.int64), np.cumsum(table[name].to_numpy().astype(np.int64))])
            for name in ("rows", "entries")
        )
        bounds = [bisect_left(words, first, key=lambda word: word.as_py().encode()) for first in first_words]
        bounds = [0, *bounds[1:], len(words)]
        for ranges, start, stop in zip(found, bounds, bounds[1:], strict=False):
            if rows[start] < rows[stop]:
                ranges.append(RowRange(part, *map(int, (rows[start], rows[stop], entries[start], entries[stop]))))
    return found
