"""Reading of files with or without gzip compression. The first bytes of a file decide, not its name."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import IO, Any

from isal import igzip, isal_zlib

from bitcipher.errors import BitcipherError
from bitcipher.files import storage

GZIP = b"\x1f\x8b"

# First bytes of files that are compressed in other ways. They are longer than the names of these formats, because text
# can begin with `BZh`.
_UNSUPPORTED = {
    re.compile(rb"PK(\x03\x04|\x05\x06)"): "a zip archive (unpack it and read the file inside)",
    re.compile(rb"BZh[1-9](1AY&SY|\x17\x72\x45\x38\x50\x90)"): "compressed with bzip2 (unpack it first)",
    re.compile(rb"\xfd7zXZ\x00"): "compressed with xz (unpack it first)",
    re.compile(rb"\x28\xb5\x2f\xfd"): "compressed with Zstandard (unpack it first)",
    re.compile(rb"\x04\x22\x4d\x18"): "compressed with LZ4 (unpack it first)",
}
_MAGIC_BYTES = 16

# isal_zlib is compiled and has no types.
_GZIP_ERRORS: Any = (EOFError, igzip.BadGzipFile, isal_zlib.error)


@contextmanager
def reading_decompressed(uri: str, stored: IO[bytes] | None = None) -> Iterator[IO[bytes]]:
    """Open a file for reading its decompressed bytes.

    Args:
        uri: path or URI of the file.
        stored: the open file, at its beginning; opened if not given.

    Raises:
        BitcipherError: if the file is missing, or if it is an incomplete gzip file, a zip archive, or compressed in
            another way. Reading the stream can raise this error too.
    """
    try:
        with nullcontext(stored) if stored else storage.reading(uri) as stream:
            start = stream.read(_MAGIC_BYTES)
            stream.seek(0)
            kind = next((kind for magic, kind in _UNSUPPORTED.items() if magic.match(start)), None)
            if kind:
                raise BitcipherError(f"{uri} is {kind}.")
            opened: Any = igzip.open(stream) if start.startswith(GZIP) else stream
            yield opened
    except _GZIP_ERRORS as error:
        raise BitcipherError(
            f"{uri} is not a complete gzip file, or has other bytes after its end ({error}): fetch it again, or unpack "
            "it with another program to see what it holds."
        ) from None
