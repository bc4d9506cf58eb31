"""Temporary files of arrays, and of named tuples of arrays.

A file has a line of JSON with the type and the shape of the array, and then its values. NumPy's own format is not used,
because NumPy reads its header with Python's parser, which can fail in Python 3.11 if several threads use it.
"""

import io
import json
from typing import IO, Any, TypeVar

import numpy as np

from bitcipher.counts.pairs import PairBlock
from bitcipher.embedding.spectral.operand import Operand
from bitcipher.embedding.spectral.ppmi import WeightedRows
from bitcipher.errors import BitcipherError
from bitcipher.files import storage

ENDING = ".array"

Arrays = WeightedRows | Operand | PairBlock
AnyArrays = TypeVar("AnyArrays", WeightedRows, Operand, PairBlock)

# The values begin at a multiple of this number of bytes, the size of a line of the cache.
ALIGNMENT = 64

# Bytes that are read at once: few enough for the cache of a core.
READ_BYTES = 1 << 18


def write_array(uri: str, array: np.ndarray) -> None:
    """Write an array."""
    header = json.dumps({"dtype": array.dtype.str, "shape": array.shape}).encode()
    with storage.writing(uri, durable=False) as stream:
        stream.write(header + b" " * (-(len(header) + 1) % ALIGNMENT) + b"\n")
        stream.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def read_array(uri: str) -> np.ndarray:
    """Return an array from its file, memory-mapped if the file is on this machine."""
    path = storage.local_path(uri)
    if path is None:
        content = storage.read_bytes(uri)
        if content is None:
            raise BitcipherError(f"{uri} is missing.")
        stream = io.BytesIO(content)
        dtype, shape = _read_header(stream)
        return np.frombuffer(content, dtype, offset=stream.tell()).reshape(shape)
    with open(path, "rb") as stream:
        dtype, shape = _read_header(stream)
        # Mode "c" (copy-on-write), although nothing is written: numba would compile its kernels again for read-only
        # arrays.
        return np.asarray(np.memmap(stream, dtype, "c", stream.tell(), shape))


def read_slice(uri: str, start: int, stop: int) -> np.ndarray:
    """Return the rows of an array from `start` on and before `stop`. Only these are read from its file."""
    with storage.reading(uri) as stream:
        dtype, shape = _read_header(stream)
        return _read_rows(stream, uri, start, np.empty((stop - start, *shape[1:]), dtype))


def read_into(uri: str, start: int, result: np.ndarray) -> None:
    """Fill an array with the rows of a stored one from `start` on. Its type must hold the stored values."""
    with storage.reading(uri) as stream:
        dtype, shape = _read_header(stream)
        if dtype == result.dtype:
            _read_rows(stream, uri, start, result)
        else:
            result[:] = _read_rows(stream, uri, start, np.empty((len(result), *shape[1:]), dtype))


def _read_rows(stream: IO[bytes], uri: str, start: int, result: np.ndarray) -> np.ndarray:
    """Fill an array with rows, given a stream at the first value, and return it."""
    stream.seek(stream.tell() + start * int(np.prod(result.shape[1:])) * result.itemsize)
    rest = result.reshape(-1).view(np.uint8).data
    while rest:
        content = stream.read(min(len(rest), READ_BYTES))
        if not content:
            raise BitcipherError(f"{uri} is shorter than it was when it was written: start again.")
        rest[: len(content)] = content
        rest = rest[len(content) :]
    return result


def _read_header(stream: IO[bytes]) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """Return the type and the shape of an array, and leave the stream at the first of its values."""
    header = json.loads(stream.readline())
    return np.dtype(header["dtype"]), tuple(header["shape"])


def write_arrays(uri: str, arrays: Arrays) -> None:
    """Write a named tuple of arrays, one file per array, because most readers need only some of them."""
    for name, array in zip(arrays._fields, arrays, strict=True):
        write_array(array_file(uri, name), array)


def read_arrays(uri: str, kind: type[AnyArrays], *names: str) -> AnyArrays:
    """Return a named tuple with the named arrays, by default all. The other arrays are None."""
    used = names or kind._fields
    arrays: list[Any] = [read_array(array_file(uri, name)) if name in used else None for name in kind._fields]
    return kind(*arrays)


def array_file(uri: str, name: str) -> str:
    """Return the file of an array of a named tuple."""
    return f"{uri}.{name}{ENDING}"
