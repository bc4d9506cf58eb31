"""Rows of a table in files, one for each range of words.

A range has words that are adjacent in the order of their bytes, and thus of any ranks. Its rows are stored in order of
rank, so the rows of a range of ranks are adjacent in each file.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from bitcipher.embedding.row_blocks import SUM_ROWS
from bitcipher.files import storage
from pipelines.embed.spectral.array_files import read_slice, write_array


@dataclass(frozen=True)
class RankedRows:
    """Rows of some words in a file, in order of rank."""

    ranks: str
    """File of the ranks, (n,) int32, ascending."""
    rows: str
    """File of the rows, (n, columns)."""
    positions: tuple[int, ...]
    """Position of the first rank from 0, `SUM_ROWS`, 2 · `SUM_ROWS`, … on; the last one is n."""


def write_ranked(uri: str, ranks: np.ndarray, rows: np.ndarray, words: int) -> RankedRows:
    """Write rows.

    Args:
        uri: folder and beginning of the names of the two files.
        ranks: (n,) int32, rank of each row, ascending.
        rows: (n, columns)
        words: number of words N.
    """
    files = RankedRows(f"{uri}.ranks.array", f"{uri}.rows.array", _positions(ranks, words))
    write_array(files.ranks, ranks)
    write_array(files.rows, rows)
    return files


def _positions(ranks: np.ndarray, words: int) -> tuple[int, ...]:
    return tuple(np.searchsorted(ranks, np.arange(0, words + SUM_ROWS, SUM_ROWS)).tolist())


@dataclass(frozen=True)
class StoredRows:
    """Rows of a table in files. Rows of words that are in no file are zeros."""

    shape: tuple[int, int]
    """Numbers of rows and columns."""
    dtype: str
    """Type of the values."""
    files: Sequence[RankedRows]
    """Files of the rows. A word is in at most one of them."""

    @property
    def in_memory(self) -> bool:
        """Whether this process has the rows in memory: never."""
        return False

    def read(self, start: int, stop: int) -> np.ndarray:
        """Return the rows from `start` on and before `stop`."""
        result = np.zeros((stop - start, self.shape[1]), self.dtype)

        def fill(file: RankedRows) -> None:
            first, last = file.positions[start // SUM_ROWS], file.positions[-(-stop // SUM_ROWS)]
            ranks = read_slice(file.ranks, first, last)
            low, high = np.searchsorted(ranks, (start, stop)).tolist()
            if low < high:
                result[ranks[low:high] - start] = read_slice(file.rows, first + low, first + high)

        # In object stores, most of the time is waiting for responses.
        with ThreadPoolExecutor(storage.REQUESTS) as pool:
            for _ in pool.map(fill, self.files):
                pass
        return result
