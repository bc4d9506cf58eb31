"""The folder that a table is kept in.

    vectors.safetensors     one tensor "vectors", (N, d) float32
    words.parquet           word, and count and passages where the table has them, in order of rank
    refinement.safetensors  arrays by name, where the table has them
    manifest.json           format, sizes and SHA-256 of the others, and the given provenance

The manifest is written last, so its presence says that the folder is whole.
"""

import hashlib
import io
import json
import uuid
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import safetensors.numpy

from bitcipher import storage
from bitcipher.errors import BitcipherError
from bitcipher.vectors import safetensors_file
from bitcipher.vocabulary import SCHEMA

FORMAT = "bitcipher-vectors/1"
VECTORS = "vectors.safetensors"
WORDS = "words.parquet"
REFINEMENT = "refinement.safetensors"
MANIFEST = "manifest.json"


class Content(NamedTuple):
    """What a folder holds, in the order of the arguments of `CipherVectors`."""

    words: pa.LargeStringArray
    vectors: np.ndarray
    counts: np.ndarray | None
    passages: np.ndarray | None
    refinement: dict[str, np.ndarray] | None
    provenance: dict[str, Any]


def write_folder(uri: str, content: Content, overwrite: bool) -> None:
    """Write the folder under a unique name beside the target, then give it its name.

    Raises:
        BitcipherError: if something else is there, or if the content cannot be written.
    """
    _check_target(uri, overwrite)
    provenance = _as_json(content.provenance)
    unfinished = f"{uri.rstrip('/')}.{uuid.uuid4().hex}.tmp"
    try:
        files = {
            VECTORS: _write(unfinished, VECTORS, safetensors_file.pieces(content.vectors)),
            WORDS: _write(unfinished, WORDS, [_words_to_bytes(content)]),
        }
        if content.refinement:
            files[REFINEMENT] = _write(unfinished, REFINEMENT, [safetensors.numpy.save(content.refinement)])
        manifest = {
            "format": FORMAT,
            "words": content.vectors.shape[0],
            "dimensions": content.vectors.shape[1],
            "files": files,
            "provenance": provenance,
            "provenance_sha256": _digest(provenance),
        }
        storage.write_json(storage.join(unfinished, MANIFEST), manifest)
        storage.remove(uri)
        storage.move(unfinished, uri)
    except BaseException as error:
        storage.remove(unfinished)
        if isinstance(error, OSError):
            raise BitcipherError(f"Cannot write {uri}: {error.strerror or error}.") from error
        raise


def read_folder(uri: str, mmap: bool) -> Content:
    """Read the folder and check it against its manifest; the vectors of a local one may be mapped instead.

    Raises:
        BitcipherError: if it is not such a folder, is of another version, or is damaged.
    """
    manifest = _read_manifest(uri)
    files = _check_sizes(uri, manifest)
    words, counts, passages = _read_words(uri, files[WORDS])
    if mmap and storage.local_path(uri) is not None:
        vectors = _map_vectors(uri, files[VECTORS])
    else:
        vectors = _read_vectors(uri, files[VECTORS])
    if not vectors.shape == (manifest.get("words"), manifest.get("dimensions")) or len(words) != len(vectors):
        raise BitcipherError(
            f"{uri} holds {len(words):,} words and vectors of the shape {vectors.shape}, which do not agree "
            f"with each other or with {MANIFEST}: fetch or build it again."
        )
    refinement = _read_refinement(uri, files[REFINEMENT]) if REFINEMENT in files else None
    return Content(words, vectors, counts, passages, refinement, manifest["provenance"])


def _check_target(uri: str, overwrite: bool) -> None:
    if not storage.exists(uri):
        return
    if not overwrite:
        raise BitcipherError(f"{uri} is already there: choose another name, or replace it by overwrite=True.")
    try:
        _read_manifest(uri)
    except BitcipherError as error:
        raise BitcipherError(f"{uri} is not overwritten, for it is no folder of vectors: {error}") from None


def _write(folder: str, name: str, pieces: Iterable[bytes]) -> dict[str, Any]:
    size, digest = 0, hashlib.sha256()
    with storage.writing(storage.join(folder, name)) as stream:
        for piece in pieces:
            stream.write(piece)
            digest.update(piece)
            size += len(piece)
    return {"bytes": size, "sha256": digest.hexdigest()}


def _words_to_bytes(content: Content) -> bytes:
    columns = dict(zip(SCHEMA.names, (content.words, content.counts, content.passages), strict=True))
    columns = {name: pa.array(column) for name, column in columns.items() if column is not None}
    table = pa.Table.from_pydict(columns, pa.schema([SCHEMA.field(name) for name in columns]))
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    return sink.getvalue().to_pybytes()


def _as_json(provenance: dict[str, Any]) -> dict[str, Any]:
    try:
        text = json.dumps(provenance, ensure_ascii=False, allow_nan=False)
        return json.loads(text.encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise BitcipherError(f"The manifest of the vectors must be what JSON can hold: {error}.") from None


def _digest(provenance: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(provenance).encode()).hexdigest()


def _read_manifest(uri: str) -> dict[str, Any]:
    path = storage.join(uri, MANIFEST)
    if not storage.exists(path):
        raise BitcipherError(f"{uri} is not a folder of vectors, or not a whole one: it holds no {MANIFEST}.")
    with storage.reading(path) as stream:
        data = stream.read()
    try:
        manifest = json.loads(data)
        name = manifest.get("format")
    except (AttributeError, RecursionError, ValueError):
        raise BitcipherError(f"{path} is not a JSON object: fetch or build the folder again.") from None
    if name != FORMAT and isinstance(name, str) and name.startswith("bitcipher-vectors/"):
        raise BitcipherError(
            f"{uri} was written as {name!r}, but this bitcipher reads {FORMAT!r}: use the one that wrote it."
        )
    if name != FORMAT:
        raise BitcipherError(f"{uri} is not a folder of vectors: its {MANIFEST} names the format {name!r}.")
    provenance = manifest.get("provenance")
    if not isinstance(provenance, dict) or _digest(provenance) != manifest.get("provenance_sha256"):
        raise BitcipherError(f"{path} was changed after it was written: fetch or build the folder again.")
    return manifest


def _check_sizes(uri: str, manifest: dict[str, Any]) -> dict[str, dict[str, Any]]:
    files = manifest.get("files")
    well_formed = (
        isinstance(files, dict)
        and {VECTORS, WORDS} <= files.keys() <= {VECTORS, WORDS, REFINEMENT}
        and all(isinstance(entry, dict) and type(entry.get("bytes")) is int for entry in files.values())
    )
    if not well_formed:
        raise BitcipherError(f"The list of files in {uri}/{MANIFEST} is damaged: fetch or build it again.")
    present = storage.list_files(uri)
    if (REFINEMENT in present) != (REFINEMENT in files):
        raise BitcipherError(f"{uri} and its {MANIFEST} disagree on {REFINEMENT}: fetch or build it again.")
    for name, entry in files.items():
        if present.get(name) != entry["bytes"]:
            found = f"has {present[name]:,} bytes" if name in present else "is missing"
            raise BitcipherError(
                f"{storage.join(uri, name)} {found}, but {MANIFEST} says {entry['bytes']:,}: "
                "fetch or build the folder again."
            )
    return files


def _read_whole(uri: str, name: str, entry: dict[str, Any]) -> bytes:
    path = storage.join(uri, name)
    with storage.reading(path) as stream:
        data = stream.read()
    if hashlib.sha256(data).hexdigest() != entry.get("sha256"):
        raise BitcipherError(f"{path} has not the SHA-256 that {MANIFEST} names: fetch or build the folder again.")
    return data


def _read_words(uri: str, entry: dict[str, Any]) -> tuple[pa.LargeStringArray, np.ndarray | None, np.ndarray | None]:
    data = _read_whole(uri, WORDS, entry)
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


def _map_vectors(uri: str, entry: dict[str, Any]) -> np.ndarray:
    path = storage.join(uri, VECTORS)
    with storage.reading(path) as stream:
        shape, offset = safetensors_file.locate(stream, entry["bytes"], path)
    return np.memmap(storage.local_path(path), safetensors_file.DTYPE, "r", offset, shape)


def _read_vectors(uri: str, entry: dict[str, Any]) -> np.ndarray:
    data = _read_whole(uri, VECTORS, entry)
    shape, offset = safetensors_file.locate(io.BytesIO(data), len(data), storage.join(uri, VECTORS))
    return np.frombuffer(data, safetensors_file.DTYPE, shape[0] * shape[1], offset).reshape(shape)


def _read_refinement(uri: str, entry: dict[str, Any]) -> dict[str, np.ndarray]:
    data = _read_whole(uri, REFINEMENT, entry)
    try:
        return safetensors.numpy.load(data)
    except (safetensors.SafetensorError, KeyError) as error:
        raise BitcipherError(f"{storage.join(uri, REFINEMENT)} is not a safetensors file: {error}.") from None
