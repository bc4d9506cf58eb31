"""The one float32 matrix of a safetensors file, written as a stream and found without reading it.

The format (github.com/huggingface/safetensors, "Format"): the length of the header as 8 little-endian bytes,
the header as JSON, which gives dtype, shape and place of every tensor, then the tensors end to end. The
safetensors library copies a tensor when it writes or reads it, so a table that is to be mapped needs its own
few lines here.
"""

import json
from collections.abc import Iterator
from typing import IO, Any

import numpy as np

from bitcipher.errors import BitcipherError

NAME = "vectors"
DTYPE = np.dtype("<f4")  # F32 in the header
LENGTH_BYTES = 8

# Written at once: 16 MB, large enough that a call costs nothing beside its bytes.
WRITE_BYTES = 1 << 24


def pieces(matrix: np.ndarray, name: str = NAME) -> Iterator[bytes]:
    """The file of an (n, d) matrix by that name, piece by piece; the same bytes as the safetensors library gives."""
    place = {"dtype": "F32", "shape": list(matrix.shape), "data_offsets": [0, matrix.size * DTYPE.itemsize]}
    header = json.dumps({name: place}, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)  # the data begin at a multiple of 8
    yield len(header).to_bytes(LENGTH_BYTES, "little") + header
    rows = max(1, WRITE_BYTES // (matrix.shape[1] * DTYPE.itemsize))
    for start in range(0, len(matrix), rows):
        yield matrix[start : start + rows].astype(DTYPE, copy=False).tobytes()


def locate(stream: IO[bytes], size: int, uri: str) -> tuple[tuple[int, int], int]:
    """The shape of the matrix and the place of its first byte in the file.

    Args:
        stream: the file, at its beginning.
        size: bytes of the file.
        uri: its name, for the error.

    Raises:
        BitcipherError: if there is no such matrix, or if it is not where the header says.
    """
    length = int.from_bytes(stream.read(LENGTH_BYTES), "little")
    if length > size - LENGTH_BYTES:
        raise BitcipherError(f"{uri} is not a safetensors file or is cut short: fetch or build it again.")
    try:
        tensors = json.loads(stream.read(length))
        tensors.pop("__metadata__", None)
        is_float32 = tensors[NAME]["dtype"] == "F32"
        rows, columns = _whole_numbers(tensors[NAME]["shape"])
        begin, end = _whole_numbers(tensors[NAME]["data_offsets"])
        data_end = max(_whole_numbers(tensor["data_offsets"])[1] for tensor in tensors.values())
    except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError):
        raise BitcipherError(f"The header of {uri} names no matrix {NAME!r}: fetch or build it again.") from None
    data = LENGTH_BYTES + length
    if not is_float32 or not 0 < rows * columns * DTYPE.itemsize == end - begin or data + data_end != size:
        raise BitcipherError(
            f"{uri} has {size:,} bytes, and its header says {rows:,} x {columns:,} {tensors[NAME]['dtype']}: "
            "the type should be F32, and the sizes should agree; fetch or build it again."
        )
    return (rows, columns), data + begin


def _whole_numbers(pair: list[Any]) -> list[int]:
    if not all(type(number) is int and number >= 0 for number in pair):
        raise ValueError
    return pair
