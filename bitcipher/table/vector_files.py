"""Files of the vectors in a folder: `vectors.safetensors`, or several files and an index if the table is large.

The index is that of transformers: `weight_map` has the file of each tensor. The tensors `vectors.00001`,
`vectors.00002`, … are consecutive rows of the table. The metadata also has the SHA-256 of each file, so the SHA-256 of
the index identifies all vectors.
"""

import ctypes
import hashlib
import json
import mmap
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import gcd
from typing import Any, NamedTuple

import numpy as np

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.files.hashed_files import hashing
from bitcipher.table import safetensors_file
from bitcipher.table.cosines import NORM_BYTES, row_norms
from bitcipher.table.manifest import MANIFEST, FileEntry
from bitcipher.table.safetensors_file import DTYPE, LENGTH_BYTES, NAME

VECTORS = "vectors.safetensors"
INDEX = "vectors.safetensors.index.json"

# Maximum bytes of vectors in a file: 1.3 million words with 200 dimensions. One worker writes a file.
MAX_FILE_BYTES = 1 << 30

# If there are several files, their vectors begin and end at multiples of this number of bytes, except for the end of
# the last one. They can therefore be memory-mapped as one array. It is the largest page of common machines.
PAGE_BYTES = 1 << 16

_SHARD = re.compile(r"vectors-\d{5,}-of-\d{5,}\.safetensors")


@dataclass(frozen=True)
class VectorFile:
    """A file of consecutive rows of a table."""

    name: str
    """File name in the folder."""
    tensor: str
    """Name of the tensor."""
    start: int
    """First row."""
    stop: int
    """Row after the last one."""
    alignment: int
    """The vectors begin at a multiple of this number of bytes."""


def plan_files(words: int, vector_size: int) -> list[VectorFile]:
    """Return the files of a table, which depend on its shape only."""
    row_bytes = vector_size * DTYPE.itemsize
    aligned_rows = PAGE_BYTES // gcd(PAGE_BYTES, row_bytes)
    rows = max(1, MAX_FILE_BYTES // (row_bytes * aligned_rows)) * aligned_rows
    if words * row_bytes <= MAX_FILE_BYTES or words <= rows:
        return [VectorFile(VECTORS, NAME, 0, words, LENGTH_BYTES)]
    names = _shard_names(-(-words // rows))
    return [
        VectorFile(name, tensor, number * rows, min((number + 1) * rows, words), PAGE_BYTES)
        for number, (name, tensor) in enumerate(names.items())
    ]


def write_file(folder: str, file: VectorFile, vector_size: int, blocks: Iterable[np.ndarray]) -> FileEntry:
    """Write a file of vectors, and return its size and digest.

    Args:
        folder: the folder of vectors.
        file: the file.
        vector_size: number of dimensions.
        blocks: the rows of the file, float32, in consecutive blocks.
    """
    shape = (file.stop - file.start, vector_size)
    return write_bytes(folder, file.name, safetensors_file.iter_bytes(shape, blocks, file.tensor, file.alignment))


def write_bytes(folder: str, name: str, blocks: Iterable[bytes]) -> FileEntry:
    """Write a file in a folder, and return its size and digest."""
    with hashing(storage.join(folder, name)) as stream:
        for block in blocks:
            stream.write(block)
        return FileEntry(bytes=stream.tell(), sha256=stream.sha256)


def write_index(folder: str, files: Mapping[str, FileEntry], total_bytes: int) -> dict[str, FileEntry]:
    """Write the index of several files of vectors.

    Args:
        folder: the folder of vectors.
        files: sizes and digests of the files of vectors, by name.
        total_bytes: bytes of all vectors.

    Returns:
        The size and digest of the index, by name; empty if there is one file, which needs no index.
    """
    if VECTORS in files:
        return {}
    content = json.dumps(_index(files, total_bytes), indent=2, sort_keys=True) + "\n"
    return {INDEX: write_bytes(folder, INDEX, [content.encode()])}


def are_vectors(names: Iterable[str]) -> bool:
    """Return whether names are those of one file of vectors, or of all files of several and their index."""
    names = set(names)
    return names == {VECTORS} or (len(names) > 2 and names == {INDEX, *_shard_names(len(names) - 1)})


def is_vectors(name: str) -> bool:
    """Return whether a name can be that of a file of vectors or of their index."""
    return name in (VECTORS, INDEX) or _SHARD.fullmatch(name) is not None


def vectors_digest(files: Mapping[str, FileEntry]) -> str:
    """Return the SHA-256 that identifies all vectors of a folder: that of the only file, or of the index.

    Args:
        files: sizes and digests of the files of the folder, by name.
    """
    return files[INDEX if INDEX in files else VECTORS].sha256


class _LocatedMatrix(NamedTuple):
    """Rows of a table in a file."""

    uri: str
    entry: FileEntry
    shape: tuple[int, int]
    offset: int

    @property
    def bytes(self) -> int:
        return self.shape[0] * self.shape[1] * DTYPE.itemsize


class ReadVectors(NamedTuple):
    """Vectors of a folder."""

    vectors: np.ndarray
    """(N, d) float32"""
    is_mapped: bool
    """Whether they are memory-mapped."""
    norms: np.ndarray | None
    """(N,) float64, lengths of memory-mapped vectors whose files were read to verify them."""


def read_vectors(uri: str, files: Mapping[str, FileEntry], mapped: bool, verify: bool) -> ReadVectors:
    """Return the vectors of a folder.

    Args:
        uri: the folder.
        files: sizes and digests of its files of vectors, by name.
        mapped: whether to memory-map files of a local folder. Several files are mapped one after the other.
        verify: whether to check the SHA-256 of memory-mapped files too, which reads them once.

    Raises:
        BitcipherError: if a file is damaged, or the index does not describe the files.
    """
    names = {VECTORS: NAME} if VECTORS in files else _shard_names(len(files) - 1)
    located = [_locate(storage.join(uri, name), files[name], tensor) for name, tensor in names.items()]
    if INDEX in files:
        _check_index(uri, files, located)
    is_local = storage.local_path(uri) is not None
    if not mapped or not is_local or not _are_consecutive(located):
        return ReadVectors(_read(located), False, None)
    norms = np.concatenate([_verify(file) for file in located]) if verify else None
    return ReadVectors(_map(located), True, norms)


def read_checked(uri: str, entry: FileEntry) -> bytes:
    """Return the content of a file.

    Raises:
        BitcipherError: if it is missing, or its SHA-256 is another.
    """
    with storage.reading(uri) as stream:
        data = stream.read()
    _compare(uri, hashlib.sha256(data).hexdigest(), entry)
    return data


def _shard_names(count: int) -> dict[str, str]:
    """Return the names of files and the names of their tensors, in order of their rows."""
    return {
        f"vectors-{number:05d}-of-{count:05d}.safetensors": f"{NAME}.{number:05d}" for number in range(1, count + 1)
    }


def _index(files: Mapping[str, FileEntry], total_bytes: int) -> dict[str, Any]:
    names = _shard_names(sum(name != INDEX for name in files))
    digests = {name: files[name].sha256 for name in names}
    return {
        "metadata": {"sha256": digests, "total_size": total_bytes},
        "weight_map": {tensor: name for name, tensor in names.items()},
    }


def _check_index(uri: str, files: Mapping[str, FileEntry], located: Sequence[_LocatedMatrix]) -> None:
    path = storage.join(uri, INDEX)
    content = read_checked(path, files[INDEX])
    try:
        index = json.loads(content)
    except (ValueError, RecursionError):
        index = None
    if index != _index(files, sum(file.bytes for file in located)):
        raise BitcipherError(f"{path} does not describe the files of vectors: fetch or build the folder again.")
    if len({file.shape[1] for file in located}) > 1:
        raise BitcipherError(f"The files of vectors in {uri} have several numbers of dimensions: build them again.")


def _locate(uri: str, entry: FileEntry, tensor: str) -> _LocatedMatrix:
    with storage.reading(uri) as stream:
        return _LocatedMatrix(uri, entry, *safetensors_file.locate_matrix(stream, entry.bytes, uri, tensor))


def _shape(located: Sequence[_LocatedMatrix]) -> tuple[int, int]:
    return sum(file.shape[0] for file in located), located[0].shape[1]


def _are_consecutive(located: Sequence[_LocatedMatrix]) -> bool:
    """Return whether the vectors of all files fill pages, so that they can be mapped one after the other."""
    page = mmap.ALLOCATIONGRANULARITY
    return len(located) == 1 or not (
        any(file.offset % page for file in located) or any(file.bytes % page for file in located[:-1])
    )


# A write to a page copies it into memory, so nothing that changes the array, such as training in torch, changes the
# files or fails. Without NORESERVE, Linux refuses to map more than the machine has memory.
_PROTECTION = mmap.PROT_READ | mmap.PROT_WRITE
_NORESERVE = getattr(mmap, "MAP_NORESERVE", 0x40 if sys.platform == "darwin" else 0x4000)  # in Python since 3.13
_PRIVATE = mmap.MAP_PRIVATE | _NORESERVE


def _map(located: Sequence[_LocatedMatrix]) -> np.ndarray:
    """Return the vectors of local files, memory-mapped copy-on-write."""
    if len(located) == 1:
        file = located[0]
        start = file.offset // mmap.ALLOCATIONGRANULARITY * mmap.ALLOCATIONGRANULARITY
        skipped = file.offset - start
        with open(_path(file), "rb") as stream:
            region = mmap.mmap(stream.fileno(), skipped + file.bytes, _PRIVATE, _PROTECTION, offset=start)
        return np.frombuffer(region, DTYPE, offset=skipped).reshape(file.shape)
    # The files replace the pages of a private region, which reserves their addresses and takes no memory. The region
    # belongs to the array, and is unmapped with it.
    region = mmap.mmap(-1, sum(file.bytes for file in located), _PRIVATE | mmap.MAP_ANONYMOUS, _PROTECTION)
    vectors = np.frombuffer(region, DTYPE).reshape(_shape(located))
    address = vectors.ctypes.data
    for file in located:
        with open(_path(file), "rb") as stream:
            _map_at(address, file.bytes, stream.fileno(), file.offset)
        address += file.bytes
    return vectors


def _path(file: _LocatedMatrix) -> str:
    path = storage.local_path(file.uri)
    assert path is not None  # the caller has checked it
    return path


# Python's mmap cannot choose the address of a mapping.
_LIBC = ctypes.CDLL(None, use_errno=True)
_MAP_FIXED = 0x10  # on Linux and macOS


def _map_at(address: int, size: int, descriptor: int, offset: int) -> None:
    """Map a part of a file to an address, in place of what is mapped there.

    Raises:
        OSError: if the system refuses it.
    """
    _LIBC.mmap.restype = ctypes.c_void_p
    _LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_int64]
    mapped = _LIBC.mmap(address, size, _PROTECTION, _PRIVATE | _MAP_FIXED, descriptor, offset)
    if mapped != address:
        raise OSError(ctypes.get_errno(), "Cannot map the files of vectors")


def _read(located: Sequence[_LocatedMatrix]) -> np.ndarray:
    """Return the vectors of files in memory, and check the digests of the files."""
    vectors = np.empty(_shape(located), DTYPE)
    start = 0
    for file in located:
        rows = vectors[start : start + file.shape[0]].reshape(-1).view(np.uint8)
        digest = hashlib.sha256()
        filled = position = 0
        with storage.reading(file.uri) as stream:
            while data := stream.read(safetensors_file.WRITE_BYTES):
                digest.update(data)
                values = data[max(0, file.offset - position) :][: len(rows) - filled]
                rows[filled : filled + len(values)] = np.frombuffer(values, np.uint8)
                filled += len(values)
                position += len(data)
        _compare(file.uri, digest.hexdigest(), file.entry)
        start += file.shape[0]
    return vectors


def _verify(file: _LocatedMatrix) -> np.ndarray:
    """Check the SHA-256 of a file, and return the lengths of its vectors, (n,) float64.

    The file is read in blocks, because a mapped array would fill the memory of this process with all of its rows.
    """
    rows, columns = file.shape
    norms, done = np.empty(rows), 0
    with storage.reading(file.uri) as stream:
        digest = hashlib.sha256(stream.read(file.offset))
        while block := stream.read(max(1, NORM_BYTES // (8 * columns)) * columns * DTYPE.itemsize):
            digest.update(block)
            vectors = np.frombuffer(block, DTYPE, len(block) // (columns * DTYPE.itemsize) * columns)
            found = row_norms(vectors.reshape(-1, columns))
            norms[done : done + len(found)] = found[: rows - done]
            done += len(found)
    _compare(file.uri, digest.hexdigest(), file.entry)
    return norms


def check_sha256(uri: str, entry: FileEntry) -> None:
    """Check the SHA-256 of a file, which is read once.

    Raises:
        BitcipherError: if it is another.
    """
    with storage.reading(uri) as stream:
        _compare(uri, hashlib.file_digest(stream, "sha256").hexdigest(), entry)  # pyright: ignore[reportArgumentType]


def _compare(uri: str, sha256: str, entry: FileEntry) -> None:
    if sha256 != entry.sha256:
        raise BitcipherError(f"The SHA-256 of {uri} differs from {MANIFEST}: fetch or build the folder again.")
