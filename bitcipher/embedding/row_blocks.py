"""Tables that are computed in blocks of rows, so that parts of them have the same bytes as the whole.

The result of a BLAS product can depend on the number of rows, and a sum of floats depends on its order. Tables are
therefore always multiplied in blocks of `BLOCK_ROWS` rows that begin at multiples of it, and sums over rows are a tree
that does not depend on who adds: blocks are added up in groups of `SUM_ROWS` rows, and then the groups, all in order.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

# Rows that are multiplied at once. A block fits into the cache.
BLOCK_ROWS = 4096

# Rows of a group of a sum, a multiple of `BLOCK_ROWS`.
SUM_ROWS = 1 << 20

# Bytes of rows that are read at once.
READ_BYTES = 1 << 25

Finish = Callable[[np.ndarray], np.ndarray]
"""Function that makes the final rows of a table, (n, d) float32, from a block of its raw rows."""

Measure = Callable[[np.ndarray], np.ndarray]
"""Function whose results for blocks of rows are added up, float64."""


class RowSource(Protocol):
    """Rows of a table in order of rank, in memory or in files."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        ...

    @property
    def in_memory(self) -> bool:
        """Whether this process has the rows in memory, so that workers cannot read them."""
        ...

    def read(self, start: int, stop: int) -> np.ndarray:
        """Return the rows from `start` on and before `stop`."""
        ...


@dataclass(frozen=True)
class ArrayRows:
    """Rows in memory."""

    array: np.ndarray
    """(N, d)"""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        rows, columns = self.array.shape
        return rows, columns

    @property
    def in_memory(self) -> bool:
        """Always true."""
        return True

    def read(self, start: int, stop: int) -> np.ndarray:
        """Return the rows from `start` on and before `stop`."""
        return self.array[start:stop]


def block_slices(rows: int) -> Iterator[slice]:
    """Yield the slice of each block of a table with `rows` rows."""
    return (slice(start, start + BLOCK_ROWS) for start in range(0, rows, BLOCK_ROWS))


def iter_blocks(source: RowSource, start: int, stop: int) -> Iterator[tuple[int, np.ndarray]]:
    """Yield the whole blocks that have rows from `start` on and before `stop`: their first row, and their rows."""
    rows, columns = source.shape
    step = max(1, READ_BYTES // (BLOCK_ROWS * max(1, columns) * 8)) * BLOCK_ROWS
    end = min(rows, -(-stop // BLOCK_ROWS) * BLOCK_ROWS)
    for first in range(start - start % BLOCK_ROWS, end, step):
        read = source.read(first, min(end, first + step))
        for block in block_slices(len(read)):
            yield first + block.start, read[block]


def finished_rows(source: RowSource, finish: Finish, start: int, stop: int) -> Iterator[np.ndarray]:
    """Yield the final rows from `start` on and before `stop`, in consecutive blocks."""
    for first, rows in iter_blocks(source, start, stop):
        yield finish(rows)[max(0, start - first) : stop - first]


def finished_table(source: RowSource, finish: Finish) -> np.ndarray:
    """Return all final rows in memory, (N, d) float32."""
    table = np.empty(source.shape, np.float32)
    for first, rows in iter_blocks(source, 0, len(table)):
        table[first : first + len(rows)] = finish(rows)
    return table


def take_rows(source: RowSource, rows: np.ndarray) -> np.ndarray:
    """Return some rows of a table.

    Args:
        source: the table.
        rows: (n,) ascending row numbers.
    """
    taken = [source.read(0, 0)]
    for block in block_slices(source.shape[0]):
        first, last = np.searchsorted(rows, (block.start, block.stop))
        if first < last:
            stop = int(rows[last - 1]) + 1
            taken.append(source.read(block.start, stop)[rows[first:last] - block.start])
    return np.concatenate(taken)


def group_starts(rows: int) -> range:
    """Return the first row of each group of a sum over the rows of a table."""
    return range(0, rows, SUM_ROWS)


def sum_group(source: RowSource, measure: Measure, start: int) -> np.ndarray:
    """Return the sum of a function over the blocks of the group of rows that begins at `start`."""
    stop = min(start + SUM_ROWS, source.shape[0])
    return sum_in_order(measure(rows) for _, rows in iter_blocks(source, start, stop))


def sum_rows(source: RowSource, measure: Measure) -> np.ndarray:
    """Return the sum of a function over the blocks of all rows."""
    return sum_in_order(sum_group(source, measure, start) for start in group_starts(source.shape[0]))


def sum_in_order(terms: Iterable[np.ndarray]) -> np.ndarray:
    """Return the sum of at least one array, added up in the given order."""
    terms = iter(terms)
    total = next(terms).copy()
    for term in terms:
        total += term
    return total
