"""Detection of file formats, and `read`, which reads vectors in any of them."""

import io
import os
import re

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.files.decompression import reading_decompressed
from bitcipher.files.text_files import extend_ascii, marked_codec
from bitcipher.formats.line_layout import HEADER, find_layout
from bitcipher.formats.registry import FORMATS, get_format
from bitcipher.formats.word2vec_binary import CONTROL, NotBinaryError
from bitcipher.table.vector_table import VectorTable

# Bytes that are read to detect a text format: enough for the first lines of any table.
HEAD_BYTES = 1 << 20

# Kinds of unsupported files by their first bytes, with instructions to convert them.
_UNSUPPORTED = {
    re.compile(rb".{4}\x00{4}\{\"", re.DOTALL): "a safetensors file without the words: give the folder that has both",
    re.compile(rb"\s*<(!doctype|html)\b", re.IGNORECASE): "a web page, not the file that it offers: download that file",
    re.compile(rb"version https://git-lfs"): "a pointer of Git LFS: fetch the file with `git lfs pull`",
    re.compile(rb"\x1f\x8b"): "compressed with gzip twice: unpack it once",
    re.compile(rb"\x93NUMPY"): "an array without the words: give the folder that also has words.txt",
    re.compile(rb"\xba\x16\x4f\x2f"): "a fastText model (read its .vec file instead)",
    re.compile(rb"\x80[\x02-\x05]"): (
        "a pickle, as gensim's `save` writes it (open it in gensim and pass it to CipherVectors.from_gensim)"
    ),
}


def read(uri: str | os.PathLike[str], format: str | None = None) -> VectorTable:
    """Read vectors in any of the formats. Builds and folders of bitcipher are opened by `CipherVectors.load`.

    Args:
        uri: a file or folder, as a local path or a URI that fsspec supports. A text file or word2vec's binary file can
            be compressed with gzip.
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
    if format is None and (format := _detect_format(uri)) == "word2vec-binary":
        return _read_binary(uri)
    return get_format(format).read(uri)


def _read_binary(uri: str) -> VectorTable:
    """Read a file that has a header and control characters. If its values have none, it is text."""
    try:
        table = get_format("word2vec-binary").read(uri)
        if CONTROL.search(table.vectors[: 1 + HEAD_BYTES // table.vectors[0].nbytes].tobytes()):
            return table
        problem = "its values are text"
    except NotBinaryError as error:
        problem = str(error)
        with reading_decompressed(uri) as stream:
            if b"\0" in stream.read(HEAD_BYTES):  # which text of words and values does not have
                raise
    try:
        return get_format("word2vec").read(uri)
    except BitcipherError as error:
        raise BitcipherError(
            f"{uri} begins with a header of word2vec, but it is neither the binary format ({problem.rstrip('.')}) nor "
            f"text ({str(error).rstrip('.')})."
        ) from None


def _readable_names() -> str:
    return ", ".join(name for name, each in FORMATS.items() if each.can_read)


def _detect_format(uri: str) -> str:
    for name, file_format in FORMATS.items():
        if (
            file_format.marker
            and not storage.is_web_address(uri)
            and storage.exists(storage.join(uri, file_format.marker))
        ):
            return name
    if (path := storage.local_path(uri)) is not None and os.path.isdir(path):
        raise BitcipherError(f"{uri} is a folder in none of the readable formats: {_readable_names()}.")
    with storage.reading(uri) as stream:
        start = stream.read(8)
    for name, file_format in FORMATS.items():
        if file_format.magic and start.startswith(file_format.magic):
            return name
    with reading_decompressed(uri) as stream:
        head = stream.read(HEAD_BYTES)
    kind = next((kind for magic, kind in _UNSUPPORTED.items() if magic.match(head)), None)
    if kind:
        raise BitcipherError(f"{uri} is {kind}.")
    return _detect_text_format(head, uri)


def _detect_text_format(head: bytes, uri: str) -> str:
    """Return the format of a file without magic bytes. The binary format is a candidate, which its parser must prove.

    Args:
        head: the first bytes, decompressed.
        uri: the file, for error messages.
    """
    start = extend_ascii(io.BytesIO(head), uri)[0].read(HEAD_BYTES).replace(b"\r", b"\n").lstrip()
    *lines, last = start.split(b"\n")
    if len(head) < HEAD_BYTES:
        lines.append(last)
    if not HEADER.fullmatch(lines[0] if lines else last):
        return "glove"
    if marked_codec(head) or not CONTROL.search(start) or _are_text(lines, uri):
        return "word2vec"
    return "word2vec-binary"


def _are_text(lines: list[bytes], uri: str) -> bool:
    """Return whether lines with control characters are words and values, after a header."""
    try:
        lines = [line for line in lines if line.strip()]
        return bool(find_layout(range(len(lines)), lines, True, uri)) and len(lines) > 1
    except BitcipherError:
        return False
