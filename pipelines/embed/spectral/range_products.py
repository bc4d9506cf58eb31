"""Products of the PPMI matrix and a table. Each range of rows of the matrix is stored in a file.

The matrix consists of blocks, side by side: a block has the weights at one offset, or in the whole window.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bitcipher.embedding.spectral.in_memory_products import Extension
from bitcipher.embedding.spectral.operand import Operand
from bitcipher.embedding.spectral.ppmi import Marginals, WeightedRows
from bitcipher.files import storage
from pipelines.embed.spectral.array_files import read_array, read_arrays, write_array, write_arrays
from pipelines.embed.spectral.ppmi_ranges import PpmiInput, RangeWeights, read_rows, read_transposed, write_rows
from pipelines.embed.spectral.stored_rows import RankedRows, StoredRows, write_ranked
from pipelines.embed.stage_runner import RunStage


@dataclass(frozen=True)
class MultiplyInput:
    """Products of a range of rows with one table per block."""

    rows: PpmiInput
    """The range."""
    target: str
    """File for the sum of the products, (rows, columns) float32."""
    landmarks: int
    """Number of landmarks, whose rows are computed."""
    terms: list[tuple[int, float, str]]
    """For each product: number of the block, scale, and URI of the table, (contexts, columns)."""


class MultiplyStage:
    """Stage that multiplies each block of a range of rows by a table, and adds up the products.

    Args:
        work: folder for temporary files.
    """

    def __init__(self, work: str):
        self._work = work

    def __call__(self, item: MultiplyInput) -> Iterator[str]:
        """Yield the file of the sum when it is written."""
        rows = read_rows(self._work, item.rows)
        write_array(item.target, _multiply(rows, item.terms, _local_targets(rows, item.landmarks)))
        yield item.target


@dataclass(frozen=True)
class ExtendInput:
    """Products of all rows of a range with one table per block."""

    rows: PpmiInput
    """The range."""
    target: str
    """Folder and beginning of the names of the files for the sum of the products, in order of rank."""
    words: int
    """Number of words of the vocabulary."""
    terms: list[tuple[int, float, str]]
    """For each product: number of the block, scale, and URI of the table, (contexts, columns)."""


class ExtendStage:
    """Stage that multiplies each block of all rows of a range by a table, and adds up the products.

    Args:
        work: folder for temporary files.
    """

    def __init__(self, work: str):
        self._work = work

    def __call__(self, item: ExtendInput) -> Iterator[RankedRows]:
        """Yield the files of the sum when they are written."""
        rows = read_rows(self._work, item.rows)
        order = np.argsort(rows.words)
        targets = np.empty(len(order), np.int64)
        targets[order] = np.arange(len(order))
        yield write_ranked(item.target, rows.words[order], _multiply(rows, item.terms, targets), item.words)


@dataclass(frozen=True)
class TransposeInput:
    """Products of each transposed block with one table, for a range of rows of the products."""

    rows: PpmiInput
    """The range."""
    target: str
    """File for the products, (blocks, rows, columns) float32."""
    contexts: int
    """Number of columns of the blocks, which are rows of the products."""
    table: str
    """URI of the table, (landmarks, columns)."""
    blocks: list[tuple[int, float]]
    """Number and scale of each block."""


class TransposeStage:
    """Stage that computes a range of rows of the product of each transposed block and a table.

    Args:
        work: folder for temporary files.
        is_weighted: whether the weights are in files. Otherwise, the stage computes them, and writes those of the rows
            for the other stages.
    """

    def __init__(self, work: str, is_weighted: bool):
        self._work = work
        self._weigh = None if is_weighted else RangeWeights(work)

    def __call__(self, item: TransposeInput) -> Iterator[str]:
        """Yield the file of the products when it is written."""
        rows = self._weigh(item.rows) if self._weigh else read_transposed(self._work, item.rows)
        targets = _local_targets(rows, item.contexts)
        table = read_arrays(item.table, Operand)
        results = np.zeros((len(item.blocks), np.count_nonzero(targets >= 0), table.values.shape[1]), np.float32)
        for (block, scale), result in zip(item.blocks, results, strict=True):
            rows.add_transposed(block, scale, table, targets, result)
        write_array(item.target, results)
        if self._weigh:
            write_rows(self._work, item.rows, rows)
        yield item.target


class StoredOperands(Mapping[int, Operand]):
    """Tables in files, one per block. A file is memory-mapped, or read, whenever its table is used.

    Args:
        uris: URI of the table of each block.
    """

    def __init__(self, uris: dict[int, str]):
        self.uris = uris

    def __getitem__(self, block: int) -> Operand:
        """Return the table of a block."""
        return read_arrays(self.uris[block], Operand)

    def __iter__(self) -> Iterator[int]:
        """Iterate over the blocks."""
        return iter(self.uris)

    def __len__(self) -> int:
        """Number of blocks."""
        return len(self.uris)


class RangeProducts:
    """`Products` of ranges of rows.

    Workers multiply the ranges. They read tables from files and write their results to files, which are joined in this
    process. Each row is computed separately, so the result does not depend on the ranges.

    Args:
        work: folder for temporary files.
        ranges: the ranges.
        words: for each range, the ranks of its words, (n,) integers, ascending.
        columns: (N,) int32, the column of each word as a context word, or -1.
        marginals: number of pairs of each word.
        run: function that runs a stage over inputs.
        is_weighted: whether the weights are in files. Otherwise, each product with the transposed blocks computes them,
            and no product can begin with another one, such as `project`.

    Attributes:
        marginals: the argument `marginals`.
    """

    def __init__(
        self,
        work: str,
        ranges: Sequence[PpmiInput],
        words: Sequence[np.ndarray],
        columns: np.ndarray,
        marginals: Marginals,
        run: RunStage,
        is_weighted: bool = True,
    ):
        self.marginals = marginals
        self._work = work
        self._ranges = ranges
        self._words = words
        self._is_weighted = is_weighted
        self._columns = columns
        self._contexts = int(columns.max(initial=-1)) + 1
        self._run = run
        self._products = 0

    def project(self, table: np.ndarray, scales: np.ndarray, landmarks: int) -> np.ndarray:
        """See `Products`."""
        folder = self._begin()
        operand = storage.join(folder, "operand")
        write_arrays(operand, Operand.rounded(table))
        terms = [(block, float(scale), operand) for block, scale in enumerate(scales) if scale]
        return self._end(folder, self._multiply(folder, terms, landmarks, table.shape[1]))

    def gram_product(self, table: np.ndarray, scales: np.ndarray) -> np.ndarray:
        """See `Products`."""
        folder = self._begin()
        terms = _terms(self._write_context_vectors(folder, table, scales))
        return self._end(folder, self._multiply(folder, terms, len(table), table.shape[1]))

    def context_vectors(self, table: np.ndarray, scales: np.ndarray) -> StoredOperands:
        """See `Products`. The files remain until the folder for temporary files is removed."""
        return self._write_context_vectors(self._begin(), table, scales)

    def extend(self, table: np.ndarray, scales: np.ndarray) -> Extension:
        """See `Products`. The files remain until the folder for temporary files is removed."""
        folder = self._begin()
        contexts = self._write_context_vectors(folder, table, scales)
        terms = _terms(contexts)
        words = len(self._columns)
        inputs = [
            ExtendInput(rows, storage.join(folder, f"rows-{rows.index:05d}"), words, terms) for rows in self._ranges
        ]
        files = sorted(self._run(ExtendStage, {"work": self._work}, inputs), key=lambda file: file.rows)
        return Extension(StoredRows((words, table.shape[1]), "float32", files), contexts)

    def _write_context_vectors(self, folder: str, table: np.ndarray, scales: np.ndarray) -> StoredOperands:
        """Write scaleⱼ · Mⱼᵀ · table for each block j."""
        operand = storage.join(folder, "operand")
        write_arrays(operand, Operand.rounded(table))
        blocks = [(block, float(scale)) for block, scale in enumerate(scales) if scale]
        inputs = [
            TransposeInput(rows, self._target(folder, "contexts", rows), self._contexts, operand, blocks)
            for rows in self._ranges
        ]
        results = self._map(TransposeStage, inputs, is_weighted=self._is_weighted)
        uris: dict[int, str] = {}
        for i, (block, _) in enumerate(blocks):
            uris[block] = storage.join(folder, f"block-{block}")
            vectors = self._join([result[i] for result in results], self._contexts, table.shape[1])
            write_arrays(uris[block], Operand.rounded(vectors))
        return StoredOperands(uris)

    def _multiply(self, folder: str, terms: list[tuple[int, float, str]], landmarks: int, width: int) -> np.ndarray:
        inputs = [MultiplyInput(rows, self._target(folder, "sums", rows), landmarks, terms) for rows in self._ranges]
        return self._join(self._map(MultiplyStage, inputs), landmarks, width)

    def _map(self, stage: type, inputs: Sequence[Any], **arguments: Any) -> list[np.ndarray]:
        """Run a stage over inputs, and return their results in order."""
        for _ in self._run(stage, {"work": self._work, **arguments}, inputs):
            pass
        return [read_array(item.target) for item in inputs]

    def _join(self, results: Sequence[np.ndarray], columns: int, width: int) -> np.ndarray:
        """Return the rows of all ranges as one table, float32.

        Args:
            results: for each range, the rows of its words that have one of the first columns.
            columns: number of columns, whose rows the table has in order.
            width: number of columns of the table.
        """
        table = np.zeros((columns, width), np.float32)
        for words, rows in zip(self._words, results, strict=True):
            targets = self._columns[words]
            table[targets[(0 <= targets) & (targets < columns)]] = rows
        return table

    def _begin(self) -> str:
        """Return a new folder for the next product. Late workers of earlier products cannot write to it."""
        self._products += 1
        return storage.join(self._work, "products", str(self._products))

    def _end(self, folder: str, result: np.ndarray) -> np.ndarray:
        storage.remove(folder)
        return result

    def _target(self, folder: str, name: str, rows: PpmiInput) -> str:
        return storage.join(folder, f"{name}-{rows.index:05d}.array")


def _terms(contexts: StoredOperands) -> list[tuple[int, float, str]]:
    """Return the terms of `MultiplyInput` for products of each block and its context vectors."""
    return [(block, 1.0, uri) for block, uri in contexts.uris.items()]


def _local_targets(rows: WeightedRows, columns: int) -> np.ndarray:
    """Return the index of each word among those of the first columns, and -1 for the other words, (n,) int64."""
    selected = rows.targets(columns) >= 0
    return np.where(selected, np.cumsum(selected) - 1, -1)


def _multiply(rows: WeightedRows, terms: list[tuple[int, float, str]], targets: np.ndarray) -> np.ndarray:
    """Return the sum of the products of rows with one table per block, (used targets, columns) float32.

    Args:
        rows: the rows.
        terms: for each product: number of the block, scale, and URI of the table.
        targets: (n,) int64, the row of the result for each word, or -1 for words to leave out.
    """
    columns = read_arrays(terms[0][2], Operand).values.shape[1]
    result = np.zeros((np.count_nonzero(targets >= 0), columns), np.float32)
    for block, scale, uri in terms:
        rows.add(block, scale, read_arrays(uri, Operand), targets, result)
    return result
