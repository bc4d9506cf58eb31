"""Identity of count files: their names, stored in the files themselves, and the SHA-256 of what is written.

All count files of a kind have the same columns, so a file under the name of another one would be read without an error.
Its pages have checksums (see `bitcipher.storage.write_table`); the name shows that it is the right file.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import pyarrow as pa

from bitcipher import storage
from bitcipher.errors import BitcipherError

_KEY = b"bitcipher.file"


def add_name(schema: pa.Schema, uri: str) -> pa.Schema:
    """Return a schema whose metadata holds the name of the file at `uri`."""
    return schema.with_metadata({**(schema.metadata or {}), _KEY: _name(uri)})


def check_name(schema: pa.Schema, uri: str) -> None:
    """Check that the metadata of a file's schema holds its name.

    Raises:
        BitcipherError: if the file was written under another name, or without a name.
    """
    name = (schema.metadata or {}).get(_KEY, b"")
    if name != _name(uri):
        other = f"it was written as {name.decode(errors='replace')!r}" if name else "it has no name of a count file"
        raise BitcipherError(f"{uri} is not the file that was written under this name ({other}): build again.")


class HashingStream:
    """Stream that computes the SHA-256 of the bytes that are written to another stream."""

    closed = False

    def __init__(self, stream: IO[bytes]):
        self._stream = stream
        self._digest = hashlib.sha256()
        self._size = 0

    @property
    def sha256(self) -> str:
        """SHA-256 of the bytes so far, in hexadecimal digits."""
        return self._digest.hexdigest()

    def write(self, content: bytes) -> int:
        """Write bytes."""
        self._digest.update(content)
        self._size += len(content)
        return self._stream.write(content)

    def tell(self) -> int:
        """Return the number of bytes so far."""
        return self._size

    def flush(self) -> None:
        """Flush the other stream."""
        self._stream.flush()

    def close(self) -> None:
        """Do nothing: the other stream is closed by the code that opened it."""


@contextmanager
def hashing(uri: str) -> Iterator[HashingStream]:
    """Open a file for writing, like `bitcipher.storage.writing`, and compute its SHA-256.

    Raises:
        BitcipherError: if the target cannot be written.
    """
    with storage.writing(uri) as stream:
        yield HashingStream(stream)


def _name(uri: str) -> bytes:
    return uri.rpartition("/")[2].encode()
