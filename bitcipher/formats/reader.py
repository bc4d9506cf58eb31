"""Format detection, and the function `read` for all formats."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from isal import igzip, isal_zlib

from bitcipher import storage
from bitcipher.errors import BitcipherError
from bitcipher.formats import numpy_folder, parquet, spacy_pipeline, static_model, word2vec_binary
from bitcipher.formats.registry import FORMATS, get_format
from bitcipher.formats.word_lines import HEADER, read_lines
from bitcipher.table import VectorTable, read_folder
from bitcipher.table.manifest import MANIFEST
from bitcipher.versions import VERSIONS, vectors_of

# Bytes that are read to detect a text format: enough for the first lines of any table.
HEAD_BYTES = 1 << 20

BITCIPHER = "bitcipher"
GZIP = b"\x1f\x8b"

# Formats of folders, by a name that they contain.
_FOLDERS = {
    VERSIONS: BITCIPHER,
    MANIFEST: BITCIPHER,
    "vocab/vectors": "spacy",
    "tokenizer.json": "sentence-transformers",
    numpy_folder.VECTORS: "numpy",
}

# Unsupported files, by their first bytes, with instructions.
_UNSUPPORTED = {
    b"PK\x03\x04": "a zip archive (unpack it and read the file inside)",
    b"BZh": "compressed with bzip2 (unpack it first)",
    b"\xfd7zXZ": "compressed with xz (unpack it first)",
    b"\x28\xb5\x2f\xfd": "compressed with Zstandard (unpack it first)",
    b"\xba\x16\x4f\x2f": "a fastText model (read its .vec file instead)",
    b"\x80": "a pickle, as gensim's `save` writes it (open it in gensim and pass it to CipherVectors.from_gensim)",
}


def read(uri: str | os.PathLike[str], format: str | None = None) -> VectorTable:
    """Read vectors in any of the formats, or a folder or build of bitcipher. Files may be compressed with gzip.

    Args:
        uri: a file or folder, as a local path or a URI that fsspec supports.
        format: a name in `FORMATS`, by default detected from the content.

    Raises:
        BitcipherError: if there is no such file, its format is not supported, or it is damaged.

    >>> with storage.writing("memory://doctest/glove.txt") as stream:
    ...     size = stream.write(b"the 1 0.5\\n. . . 2 4e-1\\n")
    >>> read("memory://doctest/glove.txt").index_to_key
    ['the', '. . .']
    """
    uri = os.fspath(uri)
    if format is not None and not get_format(format).can_read:
        raise BitcipherError(f"The format {format} can only be written. Readable formats: {_readable_names()}.")
    format = format or _detect_format(uri)
    if format == BITCIPHER:
        return read_folder(vectors_of(uri))
    if format == "spacy":
        return spacy_pipeline.read(uri)
    if format in ("sentence-transformers", "huggingface"):
        return static_model.read(uri)
    if format == "numpy":
        return numpy_folder.read(uri)
    if format in ("parquet", "embedding-atlas"):
        return parquet.read(uri)
    with _open(uri) as stream:
        if format == "word2vec-binary":
            return word2vec_binary.read(stream, uri)
        return read_lines(stream, uri, False if format == "glove" else None, format)


def _readable_names() -> str:
    return ", ".join(name for name, each in FORMATS.items() if each.can_read)


def _detect_format(uri: str) -> str:
    for name, format in _FOLDERS.items():
        if storage.exists(storage.join(uri, name)):
            return format
    if (path := storage.local_path(uri)) is not None and os.path.isdir(path):
        raise BitcipherError(f"{uri} is a folder in none of the readable formats: {_readable_names()}.")
    with storage.reading(uri) as stream:
        start = stream.read(8)
    if start.startswith(b"PAR1"):
        return "parquet"
    for magic, kind in _UNSUPPORTED.items():
        if start.startswith(magic):
            raise BitcipherError(f"{uri} is {kind}.")
    with _open(uri) as stream:
        return _detect_text_format(stream.read(HEAD_BYTES))


def _detect_text_format(head: bytes) -> str:
    first, _, rest = head.partition(b"\n")
    header = HEADER.fullmatch(first)
    if not header:
        return "glove"
    fields = rest.partition(b"\n")[0].split()
    numbers = fields[1:][-max(1, int(header[2])) :]
    return "word2vec" if numbers and all(map(_is_number, numbers)) else "word2vec-binary"


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


# isal_zlib is compiled and has no types.
_GZIP_ERRORS: Any = (EOFError, igzip.BadGzipFile, isal_zlib.error)


@contextmanager
def _open(uri: str) -> Iterator[IO[bytes]]:
    try:
        with storage.reading(uri) as stream:
            is_compressed = stream.read(2) == GZIP
            stream.seek(0)
            opened: Any = igzip.open(stream) if is_compressed else stream
            yield opened
    except _GZIP_ERRORS as error:
        raise BitcipherError(f"{uri} is not a complete gzip file: {error}. Fetch it again.") from None
