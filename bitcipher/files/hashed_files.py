"""Files whose SHA-256 is computed while they are written, and compared when they are read."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from bitcipher.errors import BitcipherError
from bitcipher.files import storage


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
    """Open a file for writing, like `bitcipher.files.storage.writing`, and compute its SHA-256.

    Raises:
        BitcipherError: if the target cannot be written.
    """
    with storage.writing(uri) as stream:
        yield HashingStream(stream)


def read_checked(uri: str, sha256: str) -> bytes:
    """Return the content of a file of a version.

    Args:
        uri: path or URI of the file.
        sha256: SHA-256 in the manifest of the version, in hexadecimal digits.

    Raises:
        BitcipherError: if the file is missing, or its SHA-256 differs.
    """
    content = storage.read_bytes(uri)
    if content is None:
        raise BitcipherError(f"There is no file {uri}.")
    if hashlib.sha256(content).hexdigest() != sha256:
        raise BitcipherError(
            f"{uri} is damaged, because its SHA-256 differs from the manifest of its version: restore it from a copy, "
            "or build again."
        )
    return content
