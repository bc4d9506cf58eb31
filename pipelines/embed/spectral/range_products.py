"""Products of weighed rows in files, a range of the vocabulary at a time."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from bitcipher import storage
from pipelines.embed.spectral.array_files import read_array, read_rows, write_array
from pipelines.embed.spectral.ppmi_ranges import rows_uri
from pipelines.runtime.runtime import Row


class AddStage:
    """Adds up blocks of a range's rows, each times a table.

    Args:
        work: the folder for what is needed for a moment.
    """

    def __init__(self, work: str):
        self._work = work

    def __call__(self, row: Row) -> Iterator[Row]:
        """From the blocks, their scales and their tables to the sum, (n, b) float32, in the target."""
        rows = read_rows(rows_uri(self._work, row["index"]), "starts", "contexts", "weights")
        result = None
        for block, scale, uri in row["terms"]:
            table = read_array(uri)
            if result is None:
                result = np.zeros((rows.starts.shape[1] - 1, table.shape[1]), np.float32)
            rows.add(block, scale, table, result)
        write_array(row["target"], result)
        yield {"index": row["index"], "target": row["target"]}


class TransposeStage:
    """Multiplies the transposes of blocks of a range's rows with a table.

    Args:
        work: the folder for what is needed for a moment.
    """

    def __init__(self, work: str):
        self._work = work

    def __call__(self, row: Row) -> Iterator[Row]:
        """From the blocks, their scales and the table to a product each, (blocks, n, b) float32, in the target."""
        rows = read_rows(rows_uri(self._work, row["index"]), "starts", "contexts", "opposite_weights")
        table = read_array(row["table"])
        results = np.zeros((len(row["blocks"]), rows.starts.shape[1] - 1, table.shape[1]), np.float32)
        for (block, scale), result in zip(row["blocks"], results, strict=True):
            rows.add_transposed(block, scale, table, result)
        write_array(row["target"], results)
        yield {"index": row["index"], "target": row["target"]}


class RangeProducts:
    """`Products` of rows that were weighed range by range.

    Tables go to the workers and come back through files. What comes back is put together here, range by range; since
    each row is multiplied by itself, the ranges leave no trace.

    Args:
        work: the folder for what is needed for a moment.
        ranges: how many there are.
        run: runs a stage, made of `work`, over rows.
    """

    def __init__(self, work: str, ranges: int, run: Callable[[Any, Row, list[Row]], Iterator[Row]]):
        self._work = work
        self._run = run
        # Copied: what is mapped keeps its file open.
        self._words = [read_rows(rows_uri(work, index), "words").words.copy() for index in range(ranges)]
        self._products = 0

    def project(self, table: np.ndarray, scales: np.ndarray) -> np.ndarray:
        """See `Products`."""
        folder = self._begin()
        operand = storage.join(folder, "operand.npy")
        write_array(operand, table)
        terms = [(block, float(scale), operand) for block, scale in enumerate(scales) if scale]
        return self._end(folder, self._add(folder, terms, table.shape))

    def gram_product(self, table: np.ndarray, scales: np.ndarray) -> np.ndarray:
        """See `Products`."""
        folder = self._begin()
        operand = storage.join(folder, "operand.npy")
        write_array(operand, table)
        blocks = [(block, float(scale)) for block, scale in enumerate(scales) if scale]
        pieces = self._map(TransposeStage, folder, "contexts", {"table": operand, "blocks": blocks})
        terms = []
        for place, (block, _) in enumerate(blocks):
            terms.append((block, 1.0, storage.join(folder, f"block-{block}.npy")))
            write_array(terms[-1][2], self._join([piece[place] for piece in pieces], table.shape))
        del pieces
        return self._end(folder, self._add(folder, terms, table.shape))

    def _add(self, folder: str, terms: list[tuple[int, float, str]], shape: tuple[int, ...]) -> np.ndarray:
        return self._join(self._map(AddStage, folder, "sums", {"terms": terms}), shape)

    def _map(self, stage: type, folder: str, name: str, of_all: Row) -> list[np.ndarray]:
        """The results of all ranges, in order."""
        rows = [
            {"index": index, "target": storage.join(folder, f"{name}-{index:05d}.npy"), **of_all}
            for index in range(len(self._words))
        ]
        for _ in self._run(stage, {"work": self._work}, rows):
            pass
        return [read_array(row["target"]) for row in rows]

    def _join(self, pieces: Sequence[np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
        """Rows of ranges as those of the vocabulary: (N, b) float32."""
        table = np.zeros(shape, np.float32)
        for words, piece in zip(self._words, pieces, strict=True):
            table[words] = piece
        return table

    def _begin(self) -> str:
        """A folder for the next product: what a late worker writes for an earlier one is not in the way."""
        self._products += 1
        return storage.join(self._work, "products", str(self._products))

    def _end(self, folder: str, result: np.ndarray) -> np.ndarray:
        storage.remove(folder)
        return result
