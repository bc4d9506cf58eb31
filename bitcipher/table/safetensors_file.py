"""Streaming writer and locator for tensors in a safetensors file.

The format (github.com/huggingface/safetensors, "Format") is the length of the header as 8 little-endian bytes, the
header as JSON with the dtype, shape and byte range of every tensor, and then the tensors end to end. The safetensors
library copies a tensor when it writes or reads it, and reads local files only, so large tables need this module.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from io import BufferedReader
from typing import IO, Any, NamedTuple, cast

import numpy as np

from bitcipher.errors import BitcipherError

NAME = "vectors"
DTYPE = np.dtype("<f4")  # F32 in the header
LENGTH_BYTES = 8

# Types of the tensors that `iter_tensors` writes, by their names in the header.
DTYPES = {"F32": DTYPE, "F64": np.dtype("<f8"), "I16": np.dtype("<i2"), "I64": np.dtype("<i8")}

# Bytes per write: 16 MB, large enough that the cost of a call does not matter.
WRITE_BYTES = 1 << 24


def iter_bytes(
    shape: tuple[int, int], blocks: Iterable[np.ndarray], name: str = NAME, alignment: int = LENGTH_BYTES
) -> Iterator[bytes]:
    """Yield the bytes of the file of an (n, d) matrix in blocks.

    With the default alignment, they equal the bytes of the safetensors library.

    Args:
        shape: n and d.
        blocks: the rows of the matrix, in consecutive blocks.
        name: name of the tensor.
        alignment: the data begin at a multiple of this number of bytes. The header is padded with spaces.
    """
    yield _header({name: ("F32", shape)}, alignment)
    rows = max(1, WRITE_BYTES // (shape[1] * DTYPE.itemsize))
    for block in blocks:
        for start in range(0, len(block), rows):
            yield block[start : start + rows].astype(DTYPE, copy=False).tobytes()


def iter_tensors(tensors: Mapping[str, np.ndarray]) -> Iterator[bytes]:
    """Yield the bytes of a file of several tensors, of types in `DTYPES`. A tensor is read when it is written."""
    names = {dtype: name for name, dtype in DTYPES.items()}
    yield _header({name: (names[tensor.dtype], tensor.shape) for name, tensor in tensors.items()})
    for tensor in tensors.values():
        values = np.ascontiguousarray(tensor).reshape(-1).view(np.uint8)
        for start in range(0, len(values), WRITE_BYTES):
            yield values[start : start + WRITE_BYTES].tobytes()


class LocatedTensor(NamedTuple):
    """A tensor in a file, of a type in `DTYPES`."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    offset: int
    """Position of its first byte in the file."""

    def read(self, stream: IO[bytes]) -> np.ndarray:
        """Return the tensor from its file, given a stream of `storage.reading`."""
        tensor = np.empty(self.shape, self.dtype)
        rest = tensor.reshape(-1).view(np.uint8).data
        stream.seek(self.offset)
        while rest and (read := cast(BufferedReader, stream).readinto(rest)):
            rest = rest[read:]
        return tensor

    def map(self, path: str) -> np.ndarray | None:
        """Return the tensor memory-mapped copy-on-write from its local file; None if it is empty or not aligned."""
        if not math.prod(self.shape) or self.offset % self.dtype.itemsize:
            return None
        return np.asarray(np.memmap(path, self.dtype, "c", self.offset, self.shape))


def locate_tensors(stream: IO[bytes]) -> dict[str, LocatedTensor]:
    """Return the tensors of a file of `iter_tensors` by name, given a stream at its beginning.

    The header is not checked, so the caller has compared the SHA-256 of the file.
    """
    length = int.from_bytes(stream.read(LENGTH_BYTES), "little")
    return {
        name: LocatedTensor(
            DTYPES[tensor["dtype"]], tuple(tensor["shape"]), LENGTH_BYTES + length + tensor["data_offsets"][0]
        )
        for name, tensor in json.loads(stream.read(length)).items()
    }


def locate_matrix(stream: IO[bytes], size: int, uri: str, name: str = NAME) -> tuple[tuple[int, int], int]:
    """Return the shape of the matrix and the offset of its first byte in the file.

    Args:
        stream: the file, at its beginning.
        size: size of the file in bytes.
        uri: name of the file for error messages.
        name: name of the tensor.

    Raises:
        BitcipherError: if there is no such matrix, or its byte range does not fit the file.
    """
    length = int.from_bytes(stream.read(LENGTH_BYTES), "little")
    if length > size - LENGTH_BYTES:
        raise BitcipherError(f"{uri} is not a safetensors file or is cut short: fetch or build it again.")
    try:
        tensors = json.loads(stream.read(length))
        tensors.pop("__metadata__", None)
        is_float32 = tensors[name]["dtype"] == "F32"
        rows, columns = _check_integers(tensors[name]["shape"])
        begin, end = _check_integers(tensors[name]["data_offsets"])
        data_end = max(_check_integers(tensor["data_offsets"])[1] for tensor in tensors.values())
    except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError):
        raise BitcipherError(f"The header of {uri} has no matrix named {name!r}: fetch or build it again.") from None
    data = LENGTH_BYTES + length
    if not is_float32 or not 0 < rows * columns * DTYPE.itemsize == end - begin or data + data_end != size:
        raise BitcipherError(
            f"{uri} has {size:,} bytes, but its header describes {rows:,} x {columns:,} {tensors[name]['dtype']}. "
            "The type must be F32 and the sizes must agree: fetch or build it again."
        )
    return (rows, columns), data + begin


def _check_integers(pair: list[Any]) -> list[int]:
    if not all(type(number) is int and number >= 0 for number in pair):
        raise ValueError
    return pair


def _header(tensors: Mapping[str, tuple[str, tuple[int, ...]]], alignment: int = LENGTH_BYTES) -> bytes:
    """Return the bytes before the tensors of a file.

    Args:
        tensors: type and shape of each tensor, by name.
        alignment: the tensors begin at a multiple of this number of bytes.
    """
    entries: dict[str, Any] = {}
    end = 0
    for name, (dtype, shape) in tensors.items():
        start, end = end, end + math.prod(shape) * DTYPES[dtype].itemsize
        entries[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [start, end]}
    header = json.dumps(entries, separators=(",", ":")).encode()
    header += b" " * (-(LENGTH_BYTES + len(header)) % alignment)
    return len(header).to_bytes(LENGTH_BYTES, "little") + header
