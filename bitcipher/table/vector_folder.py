"""Reader and writer for the folder that stores a `VectorTable`.

    vectors.safetensors     one tensor "vectors", (N, d) float32; above 1 GiB several files and an index, see
                            `vector_files`
    words.parquet           columns word and, if the table has them, count and passages, in order of rank
    refinement.safetensors  named arrays, if the table has a refinement
    contexts.safetensors    what questions about words need, see `bitcipher.rows.context_vectors`, if a build of mode
                            spectral made the folder
    manifest.json           format, sizes and SHA-256 of the other files, and provenance

The manifest is written last, so its presence shows that the folder is complete.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import safetensors.numpy

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, storage
from bitcipher.table.manifest import FORMAT, MANIFEST, FileEntry, TableManifest
from bitcipher.table.vector_files import (
    are_vectors,
    is_vectors,
    plan_files,
    read_checked,
    read_vectors,
    write_bytes,
    write_file,
    write_index,
)
from bitcipher.table.vector_table import VectorTable
from bitcipher.vocabulary import SCHEMA

WORDS = "words.parquet"
REFINEMENT = "refinement.safetensors"
CONTEXTS = "contexts.safetensors"


@dataclass(frozen=True)
class TableFields:
    """Everything that a folder stores besides the vectors. The fields are those of `VectorTable`, and `contexts`."""

    words: pa.LargeStringArray
    counts: np.ndarray | None
    passages: np.ndarray | None
    refinement: Mapping[str, np.ndarray] | None
    manifest: dict[str, Any]
    contexts: Iterable[bytes] | None = None
    """Content of `contexts.safetensors`, if there is one."""


def write_folder(uri: str, table: VectorTable, overwrite: bool = False) -> None:
    """Write the folder of a table under a unique temporary name, then rename the folder to `uri`.

    Raises:
        BitcipherError: if `uri` exists and is not a folder of vectors to overwrite, if it cannot be written, or if a
            value is not finite.
    """
    _check_target(uri, overwrite)
    table.norms  # noqa: B018 - refuses values that are not finite
    fields = TableFields(table.words, table.counts, table.passages, table.refinement, _check_json(table.manifest))
    with storage.writing_folder(uri) as folder:
        files = {
            file.name: write_file(folder, file, table.vector_size, [table.vectors[file.start : file.stop]])
            for file in plan_files(len(table), table.vector_size)
        }
        complete_folder(folder, fields, table.vector_size, files)
        if overwrite:
            _check_target(uri, overwrite)  # other files can have taken its place in the meantime
            storage.remove(uri)


def complete_folder(uri: str, fields: TableFields, vector_size: int, files: Mapping[str, FileEntry]) -> TableManifest:
    """Write the other files of a folder whose vectors are written, and return its manifest.

    Args:
        uri: the folder.
        fields: the table without its vectors.
        vector_size: number of dimensions.
        files: sizes and digests of the files of vectors, by name (see `plan_files` and `write_file`).

    Raises:
        BitcipherError: if a file cannot be written, or JSON cannot hold the manifest.
    """
    total_bytes = len(fields.words) * vector_size * np.dtype(np.float32).itemsize
    files = {**files, **write_index(uri, files, total_bytes), WORDS: write_bytes(uri, WORDS, [_words_to_bytes(fields)])}
    if fields.refinement:
        files[REFINEMENT] = write_bytes(uri, REFINEMENT, [safetensors.numpy.save(dict(fields.refinement))])
    if fields.contexts:
        files[CONTEXTS] = write_bytes(uri, CONTEXTS, fields.contexts)
    manifest = TableManifest(
        format=FORMAT,
        words=len(fields.words),
        vector_size=vector_size,
        files=files,
        provenance=_check_json(fields.manifest),
    )
    json_files.write(storage.join(uri, MANIFEST), manifest.to_dict())
    return manifest


def read_folder(uri: str, mmap: bool = True, verify: bool = False) -> VectorTable:
    """Return the table in a folder, after a check of the folder against its manifest.

    Args:
        uri: the folder.
        mmap: whether to memory-map the vectors of a local folder instead of reading them.
        verify: whether to check the SHA-256 and the values of memory-mapped vectors too, which reads them.

    Raises:
        BitcipherError: if `uri` is not a folder of vectors, has another format version, or is damaged, or if a value
            that is read is not finite.
    """
    manifest = TableManifest.read(uri)
    vector_files = _check_files(uri, manifest.files)
    words, counts, passages = _read_words(uri, manifest.files[WORDS])
    vectors, is_mapped, norms = read_vectors(uri, vector_files, mmap, verify)
    if vectors.shape != (manifest.words, manifest.vector_size) or len(words) != len(vectors):
        raise BitcipherError(
            f"{uri} holds {len(words):,} words and vectors of the shape {vectors.shape}, but {MANIFEST} describes "
            f"{manifest.words:,} x {manifest.vector_size}: fetch or build it again."
        )
    refinement = _read_refinement(uri, manifest.files[REFINEMENT]) if REFINEMENT in manifest.files else None
    try:
        if is_mapped:
            return VectorTable.from_mapped(words, vectors, counts, passages, refinement, manifest.provenance, norms)
        return VectorTable(words, vectors, counts, passages, refinement, manifest.provenance)
    except BitcipherError as error:
        raise BitcipherError(f"{uri} cannot be used: {error}") from None


def _check_target(uri: str, overwrite: bool) -> None:
    if not storage.exists(uri):
        return
    if not overwrite:
        raise BitcipherError(f"{uri} already exists: choose another name, or pass overwrite=True.")
    if storage.is_link(uri):
        raise BitcipherError(f"{uri} is a symbolic link, which is not overwritten: give the folder that it points to.")
    try:
        TableManifest.read(uri)
    except BitcipherError as error:
        raise BitcipherError(f"{uri} is not overwritten, because it is not a folder of vectors: {error}") from None


def _words_to_bytes(table: TableFields) -> bytes:
    columns = dict(zip(SCHEMA.names, (table.words, table.counts, table.passages), strict=True))
    columns = {name: pa.array(column) for name, column in columns.items() if column is not None}
    words = pa.Table.from_pydict(columns, pa.schema([SCHEMA.field(name) for name in columns]))
    sink = pa.BufferOutputStream()
    pq.write_table(words, sink, compression="zstd")
    return sink.getvalue().to_pybytes()


def _check_json(provenance: dict[str, Any]) -> dict[str, Any]:
    try:
        text = json.dumps(provenance, ensure_ascii=False, allow_nan=False)
        return json.loads(text.encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise BitcipherError(f"JSON cannot hold the manifest of the vectors: {error}.") from None


def _check_files(uri: str, files: Mapping[str, FileEntry]) -> dict[str, FileEntry]:
    """Check the names and sizes of all files, and return those of the vectors."""
    vector_files = {name: entry for name, entry in files.items() if is_vectors(name)}
    others = files.keys() - vector_files.keys()
    if not are_vectors(vector_files) or not {WORDS} <= others <= {WORDS, REFINEMENT, CONTEXTS}:
        raise BitcipherError(f"The list of files in {uri}/{MANIFEST} is damaged: fetch or build it again.")
    present = storage.list_files(uri)
    for name in (REFINEMENT, CONTEXTS):
        if (name in present) != (name in files):
            raise BitcipherError(f"{uri} and its {MANIFEST} disagree on {name}: fetch or build it again.")
    for name, entry in files.items():
        if present.get(name) != entry.bytes:
            state = f"has {present[name]:,} bytes" if name in present else "is missing"
            raise BitcipherError(
                f"{storage.join(uri, name)} {state}, but {MANIFEST} lists {entry.bytes:,} bytes: "
                "fetch or build the folder again."
            )
    return vector_files


def _read_words(uri: str, entry: FileEntry) -> tuple[pa.LargeStringArray, np.ndarray | None, np.ndarray | None]:
    data = read_checked(storage.join(uri, WORDS), entry)
    try:
        table = pq.ParquetFile(pa.BufferReader(data)).read(use_threads=False)
        columns = {
            name: table[name].cast(SCHEMA.field(name).type).combine_chunks()
            for name in SCHEMA.names
            if name == "word" or name in table.column_names
        }
    except (pa.ArrowException, KeyError, OSError) as error:
        raise BitcipherError(f"{storage.join(uri, WORDS)} is not a table of words: {error}.") from None
    words = columns.pop("word")
    if any(column.null_count for column in (words, *columns.values())):
        raise BitcipherError(f"{storage.join(uri, WORDS)} has missing values: fetch or build it again.")
    numbers = {name: _numbers(column) for name, column in columns.items()}
    return words, numbers.get("count"), numbers.get("passages")


def _numbers(column: pa.Int64Array) -> np.ndarray:
    """Return a column without missing values as an array. `to_numpy` imports pandas if it is installed, for 0.2 s."""
    return np.frombuffer(column.buffers()[1] or b"", np.int64)[column.offset :][: len(column)]


def _read_refinement(uri: str, entry: FileEntry) -> dict[str, np.ndarray]:
    data = read_checked(storage.join(uri, REFINEMENT), entry)
    try:
        return safetensors.numpy.load(data)
    except (safetensors.SafetensorError, KeyError) as error:
        raise BitcipherError(f"{storage.join(uri, REFINEMENT)} is not a safetensors file: {error}.") from None
