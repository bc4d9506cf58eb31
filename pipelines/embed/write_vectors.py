"""Writing of vectors in row ranges, so that no process holds all of them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from bitcipher.embedding.row_blocks import Finish, RowSource, finished_rows
from bitcipher.files import storage
from bitcipher.table.manifest import FileEntry
from bitcipher.table.vector_files import VectorFile, plan_files, write_file
from bitcipher.table.vector_folder import TableFields, complete_folder
from pipelines.embed.stage_runner import RunStage
from pipelines.embed.table_vectors import RawTable
from pipelines.store.manifest import VectorSizes


@dataclass(frozen=True)
class WrittenFile:
    """Output of `WriteVectorsStage`: a file of vectors."""

    name: str
    """Name of the file."""
    entry: FileEntry
    """Its size and digest."""
    empty_words: int
    """Number of words whose vectors are zeros."""


class WriteVectorsStage:
    """Stage that makes and writes the vectors of a range of rows.

    Args:
        folder: folder of the vectors.
        rows: raw rows of all words.
        finish: function that makes vectors from blocks of raw rows.
    """

    def __init__(self, folder: str, rows: RowSource, finish: Finish):
        self._folder = folder
        self._rows = rows
        self._finish = finish

    @threadpool_limits.wrap(limits=1)
    def __call__(self, file: VectorFile) -> Iterator[WrittenFile]:
        """Return one output, when the file is written."""
        empty = 0

        def blocks() -> Iterator[np.ndarray]:
            nonlocal empty
            for rows in finished_rows(self._rows, self._finish, file.start, file.stop):
                empty += int(np.count_nonzero(~rows.any(axis=1)))
                yield rows

        entry = write_file(self._folder, file, self._rows.shape[1], blocks())
        return iter([WrittenFile(file.name, entry, empty)])


@threadpool_limits.wrap(limits=1)
def write_vectors(table: RawTable, fields: TableFields, target: str, work: str, run: RunStage) -> VectorSizes:
    """Make vectors from raw rows, and write them to a folder, which appears when it is complete.

    Workers write rows that are in files, and this process writes those that are in its memory.

    Args:
        table: raw rows of all words.
        fields: the table without its vectors.
        target: folder for the vectors, which must not exist.
        work: folder for temporary files.
        run: function that runs a stage over inputs.

    Raises:
        BitcipherError: if the target exists, or cannot be written.
    """
    words, vector_size = table.rows.shape
    files = plan_files(words, vector_size)
    folder = storage.join(work, "vectors")
    arguments = {"folder": folder, "rows": table.rows, "finish": table.finish}
    if table.rows.in_memory:
        stage = WriteVectorsStage(**arguments)
        written = [each for file in files for each in stage(file)]
    else:
        written = list(run(WriteVectorsStage, arguments, files))
    entries = {each.name: each.entry for each in sorted(written, key=lambda each: each.name)}
    complete_folder(folder, fields, vector_size, entries)
    storage.move(folder, target)
    empty_words = sum(each.empty_words for each in written)
    return VectorSizes(words=words, dimensions=vector_size, empty_words=empty_words)
