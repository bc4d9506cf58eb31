"""Finding out what a file or folder is, and reading it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from isal import igzip, isal_zlib

from bitcipher import storage
from bitcipher.errors import BitcipherError
from bitcipher.formats import numpy_folder, parquet, spacy_pipeline, static_model, word2vec_binary
from bitcipher.formats.registry import FORMATS, find
from bitcipher.formats.word_lines import HEADER, read_lines
from bitcipher.vectors import CipherVectors
from bitcipher.vectors.vector_files import MANIFEST
from bitcipher.versions import VERSIONS

# Enough for the first lines of any table; what follows them is of the same kind.
HEAD_BYTES = 1 << 20

BITCIPHER = "bitcipher"
GZIP = b"\x1f\x8b"

# What a folder holds, and the format that it then is.
_FOLDERS = {
    VERSIONS: BITCIPHER,
    MANIFEST: BITCIPHER,
    "vocab/vectors": "spacy",
    "tokenizer.json": "sentence-transformers",
    numpy_folder.VECTORS: "numpy",
}

# How files begin that are none of ours, and what to do with them.
_OTHERS = {
    b"PK\x03\x04": "a zip archive (unpack it, and read the file in it)",
    b"BZh": "compressed by bzip2 (unpack it first)",
    b"\xfd7zXZ": "compressed by xz (unpack it first)",
    b"\x28\xb5\x2f\xfd": "compressed by Zstandard (unpack it first)",
    b"\xba\x16\x4f\x2f": "a model of fastText (read its .vec file instead)",
    b"\x80": "a pickle, such as gensim's `save` writes (open it in gensim, and pass it to CipherVectors.from_gensim)",
}


def read(uri: str | os.PathLike[str], format: str | None = None) -> CipherVectors:
    """Read vectors of any of the formats, also a folder or build of bitcipher. Files may be compressed by gzip.

    Args:
        uri: a file or folder, a local path or whatever fsspec reaches.
        format: a name of `FORMATS`, if it is not to be found out.

    Raises:
        BitcipherError: if there is nothing there, it is of no known format, or it is damaged.

    >>> with storage.writing("memory://doctest/glove.txt") as stream:
    ...     size = stream.write(b"the 1 0.5\\n. . . 2 4e-1\\n")
    >>> read("memory://doctest/glove.txt").index_to_key
    ['the', '. . .']
    """
    uri = os.fspath(uri)
    if format is not None and not find(format).is_read:
        raise BitcipherError(f"The format {format} is only written; read: {', '.join(_names_read())}.")
    format = format or _kind(uri)
    if format == BITCIPHER:
        return CipherVectors.load(uri)
    if format == "spacy":
        return spacy_pipeline.read(uri)
    if format in ("sentence-transformers", "huggingface"):
        return static_model.read(uri)
    if format == "numpy":
        return numpy_folder.read(uri)
    if format in ("parquet", "embedding-atlas"):
        return parquet.read(uri)
    with _opened(uri) as stream:
        if format == "word2vec-binary":
            return word2vec_binary.read(stream, uri)
        return read_lines(stream, uri, False if format == "glove" else None, format)


def _names_read() -> list[str]:
    return [name for name, each in FORMATS.items() if each.is_read]


def _kind(uri: str) -> str:
    for name, format in _FOLDERS.items():
        if storage.exists(storage.join(uri, name)):
            return format
    if (path := storage.local_path(uri)) is not None and os.path.isdir(path):
        raise BitcipherError(f"{uri} is a folder of no format that is read: {', '.join(_names_read())}.")
    with storage.reading(uri) as stream:
        start = stream.read(8)
    if start.startswith(b"PAR1"):
        return "parquet"
    for magic, what in _OTHERS.items():
        if start.startswith(magic):
            raise BitcipherError(f"{uri} is {what}.")
    with _opened(uri) as stream:
        return _kind_of_lines(stream.read(HEAD_BYTES))


def _kind_of_lines(head: bytes) -> str:
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


@contextmanager
def _opened(uri: str) -> Iterator[IO[bytes]]:
    try:
        with storage.reading(uri) as stream:
            is_compressed = stream.read(2) == GZIP
            stream.seek(0)
            yield igzip.open(stream) if is_compressed else stream
    except (EOFError, igzip.BadGzipFile, isal_zlib.error) as error:
        raise BitcipherError(f"{uri} is not a whole gzip file: {error}; fetch it again.") from None
