"""Sources as streams of decompressed bytes, with every way in which they fail told in a sentence.

Our storage fetches the bytes because it has listed them: what can be listed can be opened, under the same URI and
with the same credentials (smart_open knows no memory:// and has its own settings for S3). smart_open
decompresses, with isal for gzip, four times as fast as Python's gzip (SPEC section 3). All its decompressors
take files of several members and raise at a file that is cut short.
"""

import codecs
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from lzma import LZMAError
from typing import IO, Any

from isal import igzip, isal_zlib
from smart_open import register_compressor
from smart_open.compression import compression_wrapper

from bitcipher import storage
from bitcipher.errors import BitcipherError
from pipelines.ingest.sources import Source, compression_of

if sys.version_info >= (3, 14):
    from compression.zstd import ZstdError
else:
    from backports.zstd import ZstdError

# Bytes read or decompressed at a time: large enough that Python's part of the work does not show.
BUFFER_BYTES = 1 << 18


def _open_igzip(file: IO[bytes], mode: str, **settings: Any) -> IO[bytes]:
    return io.BufferedReader(igzip.open(file, mode, **settings), BUFFER_BYTES)


# Under a name of its own: to take .gz over would change smart_open for everybody else in the process.
register_compressor(".igzip", _open_igzip)


@contextmanager
def opened(source: Source) -> Iterator[io.BufferedReader]:
    """The decompressed bytes of a source, after its byte order mark if it has one.

    Raises:
        BitcipherError: if the source cannot be opened, or when the block meets its damaged part or early end.
    """
    uri = source.uri
    try:
        with storage.reading(uri) as stored, _decompressed(stored, compression_of(uri)) as stream:
            if stream.peek(3).startswith(codecs.BOM_UTF8):
                stream.read(3)
            yield stream
    except EOFError:
        raise BitcipherError(
            f"{uri} is cut short: it ends in the midst of its compressed data. Fetch it again."
        ) from None
    except (OSError, isal_zlib.error, LZMAError, ZstdError) as error:
        raise BitcipherError(
            f"Cannot read {uri}: {str(error).rstrip('.')}. If it is damaged, fetch it again."
        ) from error


def _decompressed(stored: IO[bytes], compression: str) -> IO[bytes]:
    if not compression:
        return io.BufferedReader(stored, BUFFER_BYTES)
    return compression_wrapper(stored, "rb", compression=".igzip" if compression == ".gz" else compression)
