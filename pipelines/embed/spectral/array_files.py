"""Temporary files of arrays and of weighted rows."""

import io
from typing import Any

import numpy as np

from bitcipher import storage
from bitcipher.embedding.spectral import WeightedRows
from bitcipher.errors import BitcipherError


def write_array(uri: str, array: np.ndarray) -> None:
    """Write an array as a .npy file."""
    with storage.writing(uri) as stream:
        np.save(stream, array, allow_pickle=False)


def read_array(uri: str) -> np.ndarray:
    """Return an array from its file, memory-mapped if the file is on this machine."""
    path = storage.local_path(uri)
    if path is None:
        content = storage.read_bytes(uri)
        if content is None:
            raise BitcipherError(f"{uri} is missing.")
        return np.load(io.BytesIO(content), allow_pickle=False)
    # Mode "c" (copy-on-write), although nothing is written: numba would compile its kernels again for read-only arrays.
    return np.asarray(np.load(path, mmap_mode="c", allow_pickle=False))


def read_slice(uri: str, start: int, stop: int) -> np.ndarray:
    """Return the rows of an array from `start` on and before `stop`. Only these are read from its file."""
    with storage.reading(uri) as stream:
        np.lib.format.read_magic(stream)
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
        row_bytes = int(np.prod(shape[1:])) * dtype.itemsize
        stream.seek(stream.tell() + start * row_bytes)
        content = stream.read((stop - start) * row_bytes)
    return np.frombuffer(content, dtype).reshape(stop - start, *shape[1:])


def write_rows(uri: str, rows: WeightedRows) -> None:
    """Write weighted rows, one file per array, because each product needs only some of the arrays."""
    for name, array in rows._asdict().items():
        write_array(_file(uri, name), array)


def read_rows(uri: str, *names: str) -> WeightedRows:
    """Return weighted rows with the named arrays. The other arrays are None."""
    arrays: dict[str, Any] = {
        name: read_array(_file(uri, name)) if name in names else None for name in WeightedRows._fields
    }
    return WeightedRows(**arrays)


def _file(uri: str, name: str) -> str:
    return f"{uri}.{name}.npy"
