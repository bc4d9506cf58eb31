"""Number tables: columns with a row for each word number, in slices that fit in memory.

A table is made from ranges of words, in the order of their bytes, and read by number, so it has to be turned around.
Each range writes a piece for each slice of the numbers, sorted by number. The pieces of a slice are then put together.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from bitcipher.counts.segment import check_numbers
from bitcipher.files import parquet_files, storage

NUMBER = "number"


class NumberTable(NamedTuple):
    """A table by word number, in a temporary folder."""

    folder: str
    """URI of the folder."""
    pieces: int
    """Number of pieces, one per range of words. A table of one piece has one slice."""
    rows: int
    """Number of rows. It is not used while the only piece is written."""
    slice_rows: int
    """Number of rows of a slice, if there are several pieces."""

    @property
    def slices(self) -> int:
        """Number of slices."""
        return 1 if self.pieces == 1 else -(-self.rows // self.slice_rows)

    def write(self, piece: int, numbers: np.ndarray, columns: dict[str, np.ndarray]) -> None:
        """Write a piece. If it is the only one, the table is then complete.

        Args:
            piece: number of the piece.
            numbers: (n,) int32, the rows, in any order.
            columns: arrays of n values of one type, by name.

        Raises:
            BitcipherError: if the piece is the only one, and a row is missing.
        """
        order = np.argsort(numbers)
        table = pa.table({NUMBER: numbers[order], **{name: column[order] for name, column in columns.items()}})
        if self.pieces == 1:
            check_numbers(numbers)
            parquet_files.write_table(self._slice(0), table.drop_columns([NUMBER]))
            return
        for number, start, stop in self._cut(numbers[order]):
            parquet_files.write_table(storage.join(self._pieces(number), f"{piece:05d}.parquet"), table[start:stop])

    def combine(self, number: int) -> None:
        """Put the pieces of a slice together. They are kept, because a worker can repeat the work of one that died.

        Raises:
            BitcipherError: if a row is missing.
        """
        folder = self._pieces(number)
        table = pa.concat_tables(
            [parquet_files.read_table(storage.join(folder, name)) for name in sorted(storage.list_files(folder))]
        )
        order = np.empty(len(table), np.int64)
        order[check_numbers(table[NUMBER].to_numpy() - number * self.slice_rows)] = np.arange(len(table))
        parquet_files.write_table(self._slice(number), table.drop_columns([NUMBER]).take(pa.array(order)))

    def read(self, numbers: np.ndarray, cache: "SliceCache") -> np.ndarray:
        """Return some rows, (n, columns). One slice is in memory at a time.

        Args:
            numbers: (n,) int32, the rows, at least one, ascending.
            cache: cache of the slice that was read last.
        """
        pieces = self._cut(numbers)
        first = cache.read(self._slice(pieces[0][0]))
        found = np.empty((len(numbers), len(first)), first[0].dtype)
        for number, start, stop in pieces:
            for position, column in enumerate(cache.read(self._slice(number))):
                found[start:stop, position] = column[numbers[start:stop] - number * self.slice_rows]
        return found

    def _cut(self, numbers: np.ndarray) -> list[tuple[int, int, int]]:
        """Return each slice that has some of the numbers, ascending, with the positions of the first and behind the
        last of them.
        """
        if self.slices == 1:
            return [(0, 0, len(numbers))]
        bounds = np.searchsorted(numbers, np.arange(self.slices + 1) * self.slice_rows).tolist()
        return [(i, start, stop) for i, (start, stop) in enumerate(pairwise(bounds)) if start < stop]

    def _pieces(self, number: int) -> str:
        return storage.join(self.folder, f"pieces-{number:05d}")

    def _slice(self, number: int) -> str:
        return storage.join(self.folder, f"{number:05d}.parquet")


class SliceCache:
    """Cache of the columns of the slice that was read last. Slices never change."""

    def __init__(self) -> None:
        self._uri: str | None = None

    def read(self, uri: str) -> list[np.ndarray]:
        """Return the columns of a slice."""
        if self._uri != uri:
            self._columns = [column.to_numpy() for column in parquet_files.read_table(uri).columns]
            self._uri = uri
        return self._columns
