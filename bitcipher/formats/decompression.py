"""Reading of files with or without gzip compression."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from isal import igzip, isal_zlib

from bitcipher import storage
from bitcipher.errors import BitcipherError

GZIP = b"\x1f\x8b"

# isal_zlib is compiled and has no types.
_GZIP_ERRORS: Any = (EOFError, igzip.BadGzipFile, isal_zlib.error)


@contextmanager
def reading_decompressed(uri: str) -> Iterator[IO[bytes]]:
    """Open a file for reading its decompressed bytes.

    Raises:
        BitcipherError: if the file is missing, or if it is an incomplete gzip file. Reading the stream can raise this
            error too.
    """
    try:
        with storage.reading(uri) as stream:
            is_compressed = stream.read(2) == GZIP
            stream.seek(0)
            opened: Any = igzip.open(stream) if is_compressed else stream
            yield opened
    except _GZIP_ERRORS as error:
        raise BitcipherError(f"{uri} is not a complete gzip file: {error}. Fetch it again.") from None
