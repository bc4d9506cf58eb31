"""Standard input as a source, given as `-`."""

import atexit
import hashlib
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path

from bitcipher.errors import BitcipherError
from pipelines.ingest.content_kinds import COMPRESSION_BYTES, compression_of_bytes

STANDARD_INPUT = "-"

READ_BYTES = 1 << 20


@cache
def spool(format: str | None) -> str:
    """Copy standard input to a temporary file, once per process, and return its path.

    Pipes cannot be read twice, and a source is read to hash it and again to process it. The name of the file contains
    the hash of its content. It is removed when the process ends.

    Args:
        format: format of the input; plain text if not given.

    Raises:
        BitcipherError: if standard input is a terminal, or empty.
    """
    if sys.stdin.isatty():
        raise BitcipherError(
            "The source `-` is standard input, and nothing is piped into it: give a file, or use a pipe."
        )
    folder = Path(tempfile.mkdtemp(prefix="bitcipher-stdin-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    digest = hashlib.sha256()
    path = folder / "stdin"
    beginning = b""
    with path.open("wb") as file:
        while data := sys.stdin.buffer.read(READ_BYTES):
            beginning = beginning or data[:COMPRESSION_BYTES]
            digest.update(data)
            file.write(data)
    if not beginning:
        raise BitcipherError("Standard input is empty: there is no text to read.")
    compression = compression_of_bytes(beginning)
    return str(path.rename(folder / f"stdin-{digest.hexdigest()[:16]}.{format or 'text'}{compression}"))
