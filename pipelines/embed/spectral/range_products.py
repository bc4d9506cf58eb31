"""Products of the PPMI matrix and a table. Each range of rows of the matrix is stored in a file.

The matrix consists of blocks, side by side: a block has the weights at one offset, or in the whole window.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from bitcipher import storage
from bitcipher.embedding.spectral import WeightedRows
from pipelines.embed.spectral.array_files import read_array, read_rows, write_array
from pipelines.embed.spectral.ppmi_ranges import rows_uri
from pipelines.runtime.runtime import In, Out


class RunStage(Protocol):
    """Function that runs a stage over inputs."""

    def __call__(
        self, make: Callable[..., Callable[[In], Iterator[Out]]], arguments: dict[str, Any], inputs: Sequence[In]
    ) -> Iterator[Out]:
        """Make a stage from keyword arguments, and yield its outputs for the inputs."""
        ...


@dataclass(frozen=True)
class MultiplyInput:
    """Products of a range of rows with one table per block."""

    index: int
    """Number of the range."""
    target: str
    """File for the sum of the products, (rows, columns) float32."""
    landmarks: int | None
    """Number of landmarks, whose rows are computed; None for the rows of all words."""
    terms: list[tuple[int, float, str]]
    """For each product: number of the block, scale, and file of the table, (contexts, columns) float32."""


class MultiplyStage:
    """Stage that multiplies each block of a range of rows by a table, and adds up the products.

    Args:
        work: folder for temporary files.
    """

    def __init__(self, work: str):
        self._work = work

    def __call__(self, item: MultiplyInput) -> Iterator[str]:
        """Yield the file of the sum when it is written."""
        rows = read_rows(rows_uri(self._work, item.index), "words", "columns", "starts", "contexts", "weights")
        targets = np.arange(len(rows.words)) if item.landmarks is None else _local_targets(rows, item.landmarks)
        columns = read_array(item.terms[0][2]).shape[1]
        result = np.zeros((np.count_nonzero(targets >= 0), columns), np.float32)
        for block, scale, uri in item.terms:
            rows.add(block, scale, read_array(uri), targets, result)
        write_array(item.target, result)
        yield item.target


@dataclass(frozen=True)
class TransposeInput:
    """Products of each transposed block with one table, for a range of rows of the products."""

    index: int
    """Number of the range."""
    target: str
    """File for the products, (blocks, rows, columns) float32."""
    contexts: int
    """Number of columns of the blocks, which are rows of the products."""
    table: str
    """File of the table, (landmarks, columns) float32."""
    blocks: list[tuple[int, float]]
    """Number and scale of each block."""


class TransposeStage:
    """Stage that computes a range of rows of the product of each transposed block and a table.

    Args:
        work: folder for temporary files.
    """

    def __init__(self, work: str):
        self._work = work

    def __call__(self, item: TransposeInput) -> Iterator[str]:
        """Yield the file of the products when it is written."""
        rows = read_rows(rows_uri(self._work, item.index), "columns", "starts", "contexts", "opposite_weights")
        targets = _local_targets(rows, item.contexts)
        table = read_array(item.table)
        results = np.zeros((len(item.blocks), np.count_nonzero(targets >= 0), table.shape[1]), np.float32)
        for (block, scale), result in zip(item.blocks, results, strict=True):
            rows.add_transposed(block, scale, table, targets, result)
        write_array(item.target, results)
        yield item.target


class RangeProducts:
    """`Products` of weighted rows in files.

    Workers multiply the ranges. They read tables from files and write their results to files, which are joined in this
    process. Each row is computed separately, so the result does not depend on the ranges.

    Args:
        work: folder for temporary files, with the weighted rows.
        ranges: number of ranges.
        columns: (N,) int32, the column of each word as a context word, or -1.
        run: function that runs a stage over inputs.
    """

    def __init__(self, work: str, ranges: int, columns: np.ndarray, run: RunStage):
        self._work = work
        self._columns = columns
        self._contexts = int(columns.max(initial=-1)) + 1
        self._run = run
        # Copied, because a memory-mapped array keeps its file open.
        self._words = [read_rows(rows_uri(work, index), "words").words.copy() for index in range(ranges)]
        self._products = 0

    def project(self, table: np.ndarray, scales: np.ndarray, landmarks: int) -> np.ndarray:
        """See `Products`."""
        folder = self._begin()
        operand = storage.join(folder, "operand.npy")
        write_array(operand, table)
        terms = [(block, float(scale), operand) for block, scale in enumerate(scales) if scale]
        return self._end(folder, self._multiply(folder, terms, landmarks, table.shape[1]))

    def gram_product(self, table: np.ndarray, scales: np.ndarray) -> np.ndarray:
        """See `Products`."""
        return self._multiply_gram(table, scales, len(table))

    def extend(self, table: np.ndarray, scales: np.ndarray) -> np.ndarray:
        """See `Products`."""
        return self._multiply_gram(table, scales, None)

    def _multiply_gram(self, table: np.ndarray, scales: np.ndarray, landmarks: int | None) -> np.ndarray:
        folder = self._begin()
        operand = storage.join(folder, "operand.npy")
        write_array(operand, table)
        blocks = [(block, float(scale)) for block, scale in enumerate(scales) if scale]
        inputs = [
            TransposeInput(index, self._target(folder, "contexts", index), self._contexts, operand, blocks)
            for index in range(len(self._words))
        ]
        results = self._map(TransposeStage, inputs)
        terms = []
        for i, (block, _) in enumerate(blocks):
            terms.append((block, 1.0, storage.join(folder, f"block-{block}.npy")))
            write_array(terms[-1][2], self._join([result[i] for result in results], self._contexts, table.shape[1]))
        del results
        return self._end(folder, self._multiply(folder, terms, landmarks, table.shape[1]))

    def _multiply(
        self, folder: str, terms: list[tuple[int, float, str]], landmarks: int | None, width: int
    ) -> np.ndarray:
        inputs = [
            MultiplyInput(index, self._target(folder, "sums", index), landmarks, terms)
            for index in range(len(self._words))
        ]
        return self._join(self._map(MultiplyStage, inputs), landmarks, width)

    def _map(self, stage: type, inputs: Sequence[Any]) -> list[np.ndarray]:
        """Run a stage over inputs, and return their results in order."""
        for _ in self._run(stage, {"work": self._work}, inputs):
            pass
        return [read_array(item.target) for item in inputs]

    def _join(self, results: Sequence[np.ndarray], columns: int | None, width: int) -> np.ndarray:
        """Return the rows of all ranges as one table, float32.

        Args:
            results: rows of each range.
            columns: the rows are those of the words of this many columns, in order; None for all words by rank.
            width: number of columns of the table.
        """
        table = np.zeros((len(self._columns) if columns is None else columns, width), np.float32)
        for words, rows in zip(self._words, results, strict=True):
            if columns is not None:
                words = self._columns[words]
                words = words[(0 <= words) & (words < columns)]
            table[words] = rows
        return table

    def _begin(self) -> str:
        """Return a new folder for the next product. Late workers of earlier products cannot write to it."""
        self._products += 1
        return storage.join(self._work, "products", str(self._products))

    def _end(self, folder: str, result: np.ndarray) -> np.ndarray:
        storage.remove(folder)
        return result

    def _target(self, folder: str, name: str, index: int) -> str:
        return storage.join(folder, f"{name}-{index:05d}.npy")


def _local_targets(rows: WeightedRows, columns: int) -> np.ndarray:
    """Return the index of each word among those of the first columns, and -1 for the other words, (n,) int64."""
    selected = rows.targets(columns) >= 0
    return np.where(selected, np.cumsum(selected) - 1, -1)
