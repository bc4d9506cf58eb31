"""`RowIndex`: the weighted rows of all words of mode spectral in a file.

A row is found without a search in the pairs of all words, so a server explains a similarity in milliseconds. The index
has 8 bytes per weighted pair, which is several times the size of the stored counts, so it is written on request only:

    index.json              what the index was made from, and the name, size and SHA-256 of the file of rows
    rows-DIGEST.arrow       Arrow IPC, memory-mapped: one row per word with its rank (int32), and for each block j of
                            the weighted matrix the lists contexts.j (int32, columns of context words) and weights.j
                            (float32)
"""

import hashlib
import json
from collections.abc import Iterable
from typing import Any, cast

import numpy as np
import pyarrow as pa

from bitcipher.embedding.spectral.ppmi import WeightedRows
from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, storage
from bitcipher.files.hashed_files import hashing
from bitcipher.files.records import Record
from bitcipher.rows.spectral_rows import SpectralRows
from bitcipher.table.manifest import FileEntry
from bitcipher.table.vector_files import check_sha256

FORMAT = "bitcipher-row-index/1"
MANIFEST = "index.json"


class RowIndexManifest(Record):
    """Content of `index.json`, which is written last."""

    format: str
    """Name and version of the format."""
    made_from: dict[str, str]
    """Digests of the counts and of the context vectors."""
    name: str
    """Name of the file of rows."""
    rows: FileEntry
    """Its size and digest."""


class RowIndex:
    """Weighted rows of all words in a local file, which is memory-mapped.

    Args:
        path: the file.
        words: number of words N of the vocabulary.
    """

    def __init__(self, path: str, words: int):
        reader = pa.ipc.open_file(pa.memory_map(path))
        self._batches = [reader.get_batch(number) for number in range(reader.num_record_batches)]
        self._blocks = (len(reader.schema) - 1) // 2
        self._places = np.full((words, 2), -1)
        for number, batch in enumerate(self._batches):
            ranks = batch.column("word").to_numpy()
            self._places[ranks, 0], self._places[ranks, 1] = number, np.arange(len(ranks))

    def rows(self, words: np.ndarray, columns: np.ndarray) -> SpectralRows:
        """Return the weighted rows of some words.

        Args:
            words: (n,) int64, ranks of the words.
            columns: (N,) int32, the column of each word as a context word, or -1.
        """
        words = np.unique(words)
        words = words[self._places[words, 0] >= 0]
        starts = np.empty((self._blocks, len(words) + 1), np.int64)
        contexts, weights = [np.empty(0, np.int32)], [np.empty(0, np.float32)]
        used = 0
        for block in range(self._blocks):
            for index, (number, row) in enumerate(self._places[words]):
                contexts.append(_list_at(self._batches[number], f"contexts.{block}", row))
                weights.append(_list_at(self._batches[number], f"weights.{block}", row))
                starts[block, index] = used
                used += len(contexts[-1])
            starts[block, -1] = used
        no_weights = np.empty(0, np.float32)
        ranks, of_words = words.astype(np.int32), columns[words]
        found = WeightedRows(ranks, of_words, starts, np.concatenate(contexts), np.concatenate(weights), no_weights)
        return SpectralRows(found, columns)


def find_row_index(folder: str, made_from: dict[str, str], words: int) -> RowIndex | None:
    """Open the index in a folder; None if it has none of these counts and context vectors, or a damaged one.

    Args:
        folder: local folder of the index.
        made_from: digests of the counts and of the context vectors.
        words: number of words N of the vocabulary.

    Raises:
        BitcipherError: if the folder is not local.
    """
    folder = _local(folder)
    uri = storage.join(folder, MANIFEST)
    try:
        manifest = RowIndexManifest.parse(json_files.read(uri), uri)
        path = storage.join(folder, manifest.name)
        if (manifest.format, manifest.made_from) != (FORMAT, made_from):
            return None
        check_sha256(path, manifest.rows)
    except BitcipherError:  # a file is missing or damaged
        return None
    return RowIndex(path, words)


def write_row_index(folder: str, made_from: dict[str, str], blocks: int, rows: Iterable[SpectralRows]) -> None:
    """Write an index into a folder, in place of one of other counts.

    Args:
        folder: local folder of the index.
        made_from: digests of the counts and of the context vectors.
        blocks: number of blocks of the weighted matrix.
        rows: the rows of all words, in parts.

    Raises:
        BitcipherError: if a file cannot be written, or the folder is not local.
    """
    folder = _local(folder)
    digest = hashlib.sha256(json.dumps([FORMAT, made_from]).encode()).hexdigest()[:16]
    name = f"rows-{digest}.arrow"
    with hashing(storage.join(folder, name)) as stream:
        with pa.ipc.new_file(cast(Any, stream), _schema(blocks)) as writer:
            for part in rows:
                writer.write_batch(_to_batch(part.rows))
        entry = FileEntry(bytes=stream.tell(), sha256=stream.sha256)
    manifest = RowIndexManifest(format=FORMAT, made_from=made_from, name=name, rows=entry)
    json_files.write(storage.join(folder, MANIFEST), manifest.to_dict())
    for other in storage.list_files(folder):
        if other.startswith("rows-") and other.endswith(".arrow") and other != name:
            storage.remove(storage.join(folder, other))


def _local(folder: str) -> str:
    path = storage.local_path(folder)
    if path is None:
        raise BitcipherError(f"{folder} is not on a local disk, from which an index is mapped: name a local folder.")
    return path


def _schema(blocks: int) -> pa.Schema:
    lists = {"contexts": pa.large_list(pa.int32()), "weights": pa.large_list(pa.float32())}
    fields = [(f"{name}.{block}", kind) for block in range(blocks) for name, kind in lists.items()]
    return pa.schema([("word", pa.int32()), *fields])


def _to_batch(rows: WeightedRows) -> pa.RecordBatch:
    columns = [pa.array(rows.words, pa.int32())]
    for starts in rows.starts:
        for values in (rows.contexts, rows.weights):
            in_block = pa.array(values[starts[0] : starts[-1]])
            columns.append(pa.LargeListArray.from_arrays(pa.array(starts - starts[0]), in_block))
    return pa.RecordBatch.from_arrays(columns, schema=_schema(len(rows.starts)))


def _list_at(batch: pa.RecordBatch, column: str, row: int) -> np.ndarray:
    """Return a list of a batch as an array, without a copy."""
    return batch.column(column)[int(row)].values.to_numpy()
