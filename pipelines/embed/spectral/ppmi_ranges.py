"""Weighted ranges: the pairs of a range of the vocabulary, in both directions, with PPMI weights.

`PpmiStage` writes all weights for many products. If there is only one product, as on kept axes, the stage that
multiplies the transposed rows computes the weights, and writes only those that the rest of the product needs.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bitcipher.counts.row_ranges import RowRange
from bitcipher.embedding.reused_arrays import ReusedArrays
from bitcipher.embedding.spectral.ppmi import Marginals, WeightedRows, weight_rows
from bitcipher.embedding.spectral.row_order import order_rows
from bitcipher.files import storage
from pipelines.embed.spectral.array_files import array_file, read_array, read_arrays, write_array, write_arrays
from pipelines.embed.spectral.pair_arrays import read_ranges


@dataclass(frozen=True)
class PpmiInput:
    """A range of the vocabulary whose pairs are weighted."""

    index: int
    """Number of the range."""
    row_ranges: list[RowRange]
    """Rows of the words of the range in the gathered ranges."""


@dataclass(frozen=True)
class WeightedRange:
    """Output of `PpmiStage`: a range of the vocabulary whose weights are written."""

    index: int
    """Number of the range."""
    entries: int
    """Number of weighted pairs."""

    @property
    def metrics(self) -> dict[str, int]:
        """Sizes by name, which Ray exports as counters."""
        return {"entries": self.entries}


class RangeWeights:
    """Function that computes the weighted rows of ranges.

    Args:
        work: folder for temporary files.
    """

    def __init__(self, work: str):
        self._marginals = Marginals.of_sums(read_array(_sums_uri(work)))
        self._columns = read_array(_columns_uri(work))
        self._arrays = ReusedArrays()

    def __call__(self, item: PpmiInput) -> WeightedRows:
        """Return the weighted rows of a range. Their memory is used again by the next call."""
        pairs = read_ranges(item.row_ranges, self._arrays)
        order = order_rows(pairs, len(self._columns))
        return weight_rows(pairs, self._marginals, self._columns, order, self._arrays)


class PpmiStage:
    """Stage that computes the PPMI weights of a range of the vocabulary.

    Args:
        work: folder for temporary files.
    """

    def __init__(self, work: str):
        self._weigh = RangeWeights(work)
        self._work = work

    def __call__(self, item: PpmiInput) -> Iterator[WeightedRange]:
        """Yield a range when its weighted rows are written."""
        rows = self._weigh(item)
        write_arrays(_rows_uri(self._work, item.index), rows)
        yield WeightedRange(item.index, len(rows.contexts))


def write_inputs(work: str, sums: np.ndarray, columns: np.ndarray) -> None:
    """Write the arrays that `PpmiStage` reads.

    Args:
        work: folder for temporary files.
        sums: (blocks, N) int64, sum of the marginals of all ranges.
        columns: (N,) int32, the column of each word as a context word, or -1.
    """
    write_array(_sums_uri(work), sums)
    write_array(_columns_uri(work), columns)


def read_rows(work: str, item: PpmiInput) -> WeightedRows:
    """Return the weighted rows of a range from their files, with the arrays that `WeightedRows.add` needs."""
    return read_arrays(_rows_uri(work, item.index), WeightedRows, *_FACTORS)


def read_transposed(work: str, item: PpmiInput) -> WeightedRows:
    """Return the weighted rows of a range from their files, with the arrays that `add_transposed` needs."""
    names = ("columns", "starts", "contexts", "opposite_weights")
    return read_arrays(_rows_uri(work, item.index), WeightedRows, *names)


def write_rows(work: str, item: PpmiInput, rows: WeightedRows) -> None:
    """Write the arrays of weighted rows that `read_rows` reads."""
    for name in _FACTORS:
        write_array(array_file(_rows_uri(work, item.index), name), getattr(rows, name))


# Arrays of weighted rows that `WeightedRows.add` needs.
_FACTORS = ("words", "columns", "starts", "contexts", "weights")


def _rows_uri(work: str, index: int) -> str:
    """Return the URI of the weighted rows of a range (see `write_arrays`)."""
    return storage.join(work, "weighted", f"{index:05d}")


def _sums_uri(work: str) -> str:
    return storage.join(work, "sums.array")


def _columns_uri(work: str) -> str:
    return storage.join(work, "columns.array")
