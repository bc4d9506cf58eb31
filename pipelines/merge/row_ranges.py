"""Where ranges of words lie in the parts of a segment, and reading what lies there."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from bitcipher.counts import PairBlock, read_row_range


class RowRange(NamedTuple):
    """Rows of a part that follow one another, and their entries."""

    part: str
    first_row: int
    behind_row: int
    first_entry: int
    behind_entry: int

    def read(self) -> PairBlock:
        """The rows, by the segment's own numbers."""
        return read_row_range(self.part, (self.first_row, self.behind_row), (self.first_entry, self.behind_entry))


def find_runs(parts: Sequence[str], tables: Sequence[pa.Table], firsts: Sequence[bytes]) -> list[list[RowRange]]:
    """The runs of each range of words; a range ends where the next one begins.

    Args:
        parts: of a segment, in order.
        tables: the words of each part.
        firsts: the first word of each range, in the order of bytes.
    """
    runs: list[list[RowRange]] = [[] for _ in firsts]
    for part, table in zip(parts, tables, strict=True):
        words = table["word"].combine_chunks()
        rows, entries = (
            np.concatenate([np.zeros(1, np.int64), np.cumsum(table[name].to_numpy().astype(np.int64))])
            for name in ("rows", "entries")
        )
        places = [bisect_left(words, first, key=lambda word: word.as_py().encode()) for first in firsts]
        places = [0, *places[1:], len(words)]
        for runs_of_range, first, behind in zip(runs, places, places[1:], strict=False):
            if rows[first] < rows[behind]:
                bounds = (rows[first], rows[behind], entries[first], entries[behind])
                runs_of_range.append(RowRange(part, *map(int, bounds)))
    return runs
