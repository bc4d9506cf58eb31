"""Detection of file formats, and `read`, which reads vectors in any of them."""

import os

from bitcipher import storage
from bitcipher.errors import BitcipherError
from bitcipher.formats.decompression import reading_decompressed
from bitcipher.formats.registry import FORMATS, get_format
from bitcipher.formats.word_lines import HEADER
from bitcipher.table import VectorTable

# Bytes that are read to detect a text format: enough for the first lines of any table.
HEAD_BYTES = 1 << 20

# Kinds of unsupported files by their first bytes, with instructions to convert them.
_UNSUPPORTED = {
    b"PK\x03\x04": "a zip archive (unpack it and read the file inside)",
    b"BZh": "compressed with bzip2 (unpack it first)",
    b"\xfd7zXZ": "compressed with xz (unpack it first)",
    b"\x28\xb5\x2f\xfd": "compressed with Zstandard (unpack it first)",
    b"\xba\x16\x4f\x2f": "a fastText model (read its .vec file instead)",
    b"\x80": "a pickle, as gensim's `save` writes it (open it in gensim and pass it to CipherVectors.from_gensim)",
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
    return get_format(format or _detect_format(uri)).read(uri)


def _readable_names() -> str:
    return ", ".join(name for name, each in FORMATS.items() if each.can_read)


def _detect_format(uri: str) -> str:
    if uri.endswith(".safetensors"):
        raise BitcipherError(f"{uri} holds vectors without their words: give the folder that has both.")
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
    for magic, kind in _UNSUPPORTED.items():
        if start.startswith(magic):
            raise BitcipherError(f"{uri} is {kind}.")
    with reading_decompressed(uri) as stream:
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
