"""Reader and writer for the folder that stores a `VectorTable`.

    vectors.safetensors     one tensor "vectors", (N, d) float32
    words.parquet           columns word and, if the table has them, count and passages, in order of rank
    refinement.safetensors  named arrays, if the table has a refinement
    manifest.json           format, sizes and SHA-256 of the other files, and provenance

The manifest is written last, so its presence shows that the folder is complete.
"""

import hashlib
import io
import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import safetensors.numpy

from bitcipher import json_files, storage
from bitcipher.errors import BitcipherError
from bitcipher.table import safetensors_file
from bitcipher.table.manifest import FORMAT, MANIFEST, FileEntry, TableManifest
from bitcipher.table.vector_table import VectorTable
from bitcipher.vocabulary import SCHEMA

VECTORS = "vectors.safetensors"
WORDS = "words.parquet"
REFINEMENT = "refinement.safetensors"


def write_folder(uri: str, table: VectorTable, overwrite: bool = False) -> None:
    """Write the folder of a table under a unique temporary name, then rename the folder to `uri`.

    Raises:
        BitcipherError: if `uri` exists and is not a folder of vectors to overwrite, or if it cannot be written.
    """
    _check_target(uri, overwrite)
    provenance = _check_json(table.manifest)
    with storage.writing_folder(uri) as folder:
        files = {
            VECTORS: _write(folder, VECTORS, safetensors_file.iter_bytes(table.vectors)),
            WORDS: _write(folder, WORDS, [_words_to_bytes(table)]),
        }
        if table.refinement:
            files[REFINEMENT] = _write(folder, REFINEMENT, [safetensors.numpy.save(table.refinement)])
        manifest = TableManifest(
            format=FORMAT,
            words=len(table),
            vector_size=table.vector_size,
            files=files,
            provenance=provenance,
        )
        json_files.write(storage.join(folder, MANIFEST), manifest.to_dict())
        if overwrite:
            _check_target(uri, overwrite)  # other files can have taken its place in the meantime
            storage.remove(uri)


def read_folder(uri: str, mmap: bool = True, verify: bool = False) -> VectorTable:
    """Return the table in a folder, after a check of the folder against its manifest.

    Args:
        uri: the folder.
        mmap: whether to memory-map the vectors of a local folder instead of reading them.
        verify: whether to check the SHA-256 of memory-mapped vectors too, which reads them once.

    Raises:
        BitcipherError: if `uri` is not a folder of vectors, has another format version, or is damaged.
    """
    manifest = TableManifest.read(uri)
    _check_files(uri, manifest.files)
    words, counts, passages = _read_words(uri, manifest.files[WORDS])
    path = storage.local_path(storage.join(uri, VECTORS))
    if mmap and path is not None:
        if verify:
            _check_sha256(path, manifest.files[VECTORS])
        vectors = _map_vectors(path, manifest.files[VECTORS])
    else:
        vectors = _read_vectors(uri, manifest.files[VECTORS])
    if vectors.shape != (manifest.words, manifest.vector_size) or len(words) != len(vectors):
        raise BitcipherError(
            f"{uri} holds {len(words):,} words and vectors of the shape {vectors.shape}, but {MANIFEST} describes "
            f"{manifest.words:,} x {manifest.vector_size}: fetch or build it again."
        )
    refinement = _read_refinement(uri, manifest.files[REFINEMENT]) if REFINEMENT in manifest.files else None
    return VectorTable(words, vectors, counts, passages, refinement, manifest.provenance)


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


def _write(folder: str, name: str, blocks: Iterable[bytes]) -> FileEntry:
    size, digest = 0, hashlib.sha256()
    with storage.writing(storage.join(folder, name)) as stream:
        for block in blocks:
            stream.write(block)
            digest.update(block)
            size += len(block)
    return FileEntry(bytes=size, sha256=digest.hexdigest())


def _words_to_bytes(table: VectorTable) -> bytes:
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


def _check_files(uri: str, files: Mapping[str, FileEntry]) -> None:
    if not {VECTORS, WORDS} <= files.keys() <= {VECTORS, WORDS, REFINEMENT}:
        raise BitcipherError(f"The list of files in {uri}/{MANIFEST} is damaged: fetch or build it again.")
    present = storage.list_files(uri)
    if (REFINEMENT in present) != (REFINEMENT in files):
        raise BitcipherError(f"{uri} and its {MANIFEST} disagree on {REFINEMENT}: fetch or build it again.")
    for name, entry in files.items():
        if present.get(name) != entry.bytes:
            state = f"has {present[name]:,} bytes" if name in present else "is missing"
            raise BitcipherError(
                f"{storage.join(uri, name)} {state}, but {MANIFEST} lists {entry.bytes:,} bytes: "
                "fetch or build the folder again."
            )


def _read_checked(uri: str, name: str, entry: FileEntry) -> bytes:
    path = storage.join(uri, name)
    with storage.reading(path) as stream:
        data = stream.read()
    if hashlib.sha256(data).hexdigest() != entry.sha256:
        raise BitcipherError(f"The SHA-256 of {path} differs from {MANIFEST}: fetch or build the folder again.")
    return data


def _check_sha256(path: str, entry: FileEntry) -> None:
    with storage.reading(path) as stream:
        if hashlib.file_digest(stream, "sha256").hexdigest() != entry.sha256:  # pyright: ignore[reportArgumentType]
            raise BitcipherError(f"The SHA-256 of {path} differs from {MANIFEST}: fetch or build the folder again.")


def _read_words(uri: str, entry: FileEntry) -> tuple[pa.LargeStringArray, np.ndarray | None, np.ndarray | None]:
    data = _read_checked(uri, WORDS, entry)
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
    numbers = {name: column.to_numpy() for name, column in columns.items()}
    return words, numbers.get("count"), numbers.get("passages")


def _map_vectors(path: str, entry: FileEntry) -> np.ndarray:
    with storage.reading(path) as stream:
        shape, offset = safetensors_file.locate_matrix(stream, entry.bytes, path)
    return np.memmap(path, safetensors_file.DTYPE, "r", offset, shape)


def _read_vectors(uri: str, entry: FileEntry) -> np.ndarray:
    data = _read_checked(uri, VECTORS, entry)
    shape, offset = safetensors_file.locate_matrix(io.BytesIO(data), len(data), storage.join(uri, VECTORS))
    return np.frombuffer(data, safetensors_file.DTYPE, shape[0] * shape[1], offset).reshape(shape)


def _read_refinement(uri: str, entry: FileEntry) -> dict[str, np.ndarray]:
    data = _read_checked(uri, REFINEMENT, entry)
    try:
        return safetensors.numpy.load(data)
    except (safetensors.SafetensorError, KeyError) as error:
        raise BitcipherError(f"{storage.join(uri, REFINEMENT)} is not a safetensors file: {error}.") from None
