"""Reader of text files that users write: vector files, word lists, counts, and lists of paths and hosts.

The encoding is the one that the caller names; else that of a byte-order mark (UTF-8, UTF-16 or UTF-32), which is
removed; else UTF-8. Nothing is guessed: other bytes are refused. Lines can end in LF, CRLF or CR.
"""

import codecs
from typing import IO

from bitcipher.errors import BitcipherError
from bitcipher.files.decompression import reading_decompressed

UTF8 = "utf-8"
MARK = "\ufeff"

# UTF-32 is first, because its mark begins with that of UTF-16.
_CODECS = {
    codecs.BOM_UTF8: UTF8,
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_MARK_BYTES = 4

_ASCII = bytes(range(128))


# Limits of a file that is read as a whole, such as a word list or an evaluation set. They are far above those of real
# files, and refuse a small compressed file that would fill the memory.
MAX_BYTES = 256 << 20
MAX_LINES = 20_000_000


def read_text(
    uri: str, encoding: str | None = None, max_bytes: int = MAX_BYTES, stored: IO[bytes] | None = None
) -> str:
    r"""Return the text of a file, which can be compressed with gzip. Its lines end in "\n".

    Args:
        uri: path or URI of a file that fits in memory.
        encoding: encoding as Python names it; by default that of the byte-order mark, or UTF-8.
        max_bytes: maximum size of the decompressed file.
        stored: the open file, at its beginning; opened if not given.

    Raises:
        BitcipherError: if there is no such file, or it is too large or not text in this encoding.
    """
    with reading_decompressed(uri, stored) as stream:
        content = stream.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise BitcipherError(f"{uri} has more than {max_bytes >> 20:,} MiB of text: split it into several files.")
    return decode_text(content, uri, encoding)


def read_lines(
    uri: str, encoding: str | None = None, max_bytes: int = MAX_BYTES, stored: IO[bytes] | None = None
) -> list[str]:
    """Return the lines of a file without their ends; see `read_text`. Each line can begin with a byte-order mark.

    Concatenated files have such marks in the middle.

    Raises:
        BitcipherError: if there is no such file, or it is too large or not text in this encoding.

    >>> from bitcipher.files import storage
    >>> storage.write_bytes("memory://doctest/words.txt", "the\\r\\ncafé\\r\\n".encode("utf-16"))
    >>> read_lines("memory://doctest/words.txt")
    ['the', 'café']
    """
    text = read_text(uri, encoding, max_bytes, stored)
    if text.count("\n") > MAX_LINES:
        raise BitcipherError(f"{uri} has more than {MAX_LINES:,} lines: split it into several files.")
    lines = [line.removeprefix(MARK) for line in text.split("\n")]
    return lines if lines[-1] else lines[:-1]


def decode_text(content: bytes, uri: str, encoding: str | None = None) -> str:
    """Return the text in the content of a file; see `read_text`.

    Args:
        content: the decompressed bytes.
        uri: the file, for error messages.
        encoding: encoding as Python names it; by default that of the byte-order mark, or UTF-8.

    Raises:
        BitcipherError: if the bytes are not text in this encoding.
    """
    codec = check_encoding(encoding) if encoding else marked_codec(content) or UTF8
    if _extends_ascii(codec) and b"\0" in content:
        line = content[: content.index(b"\0")].count(b"\n") + 1
        raise BitcipherError(
            f"Line {line:,} of {uri} holds a NUL character: the file is not text in {codec.upper()}. If it is UTF-16 "
            "without a byte-order mark, convert it to UTF-8."
        )
    try:
        text = content.decode(codec)
    except UnicodeError as error:
        raise BitcipherError(_describe_bad_byte(content, uri, codec, error)) from None
    return text.removeprefix(MARK).replace("\r\n", "\n").replace("\r", "\n")


def marked_codec(start: bytes) -> str | None:
    """Return the codec of the byte-order mark at the start of a file, or None if there is none."""
    return next((codec for mark, codec in _CODECS.items() if start.startswith(mark)), None)


def check_encoding(name: str) -> str:
    """Return the name of an encoding as Python normalizes it.

    Raises:
        BitcipherError: if Python knows no such encoding of text.
    """
    try:
        b"text".decode(name, "replace")  # refuses codecs that are not for text
        return codecs.lookup(name).name
    except (LookupError, ValueError, TypeError, AssertionError):  # AssertionError: base64
        raise BitcipherError(
            f"`encoding` must be an encoding that Python knows, such as cp1252, got {name!r}."
        ) from None


def extend_ascii(stream: IO[bytes], uri: str, encoding: str | None = None) -> tuple["TextStream", str]:
    """Return a stream of a text file whose bytes below 128 are ASCII, so that it can be split at spaces and line ends.

    UTF-16 and other encodings that do not extend ASCII are converted to UTF-8. The byte-order mark is removed.

    Args:
        stream: the decompressed bytes, at their beginning.
        uri: the file, for error messages.
        encoding: encoding as Python names it; by default that of the byte-order mark, or UTF-8.

    Returns:
        The stream, and the codec of its bytes. Reading it raises BitcipherError for bytes that cannot be converted.
    """
    start = stream.read(_MARK_BYTES)
    codec = check_encoding(encoding) if encoding else marked_codec(start) or UTF8
    if codec in (UTF8, "utf-8-sig"):
        return TextStream(start.removeprefix(codecs.BOM_UTF8), stream, uri, None), UTF8
    if _extends_ascii(codec):
        return TextStream(start, stream, uri, None), codec
    return TextStream(start, stream, uri, codec), UTF8


class TextStream:
    """Stream of the first bytes of a file and of its other bytes, converted to UTF-8 if there is a codec."""

    def __init__(self, start: bytes, stream: IO[bytes], uri: str, codec: str | None):
        self._start, self._stream, self._uri = start, stream, uri
        self._codec = codec or UTF8
        self._decoder = codecs.getincrementaldecoder(codec)() if codec else None
        self._is_first = True

    def read(self, size: int) -> bytes:
        """Return about `size` bytes, or none at the end."""
        while data := self._start + self._stream.read(size):
            self._start = b""
            if not self._decoder:
                return data
            if text := self._decode(self._decoder, data, is_last=False):
                return text
        return self._decode(self._decoder, b"", is_last=True) if self._decoder else b""

    def _decode(self, decoder: codecs.IncrementalDecoder, data: bytes, is_last: bool) -> bytes:
        try:
            text = decoder.decode(data, is_last)
            if self._is_first and text:
                self._is_first, text = False, text.removeprefix(MARK)
            return text.encode()
        except UnicodeError as error:
            raise BitcipherError(
                f"{self._uri} is not text in {self._codec.upper()}: {error}. Convert it to UTF-8."
            ) from None


def _extends_ascii(codec: str) -> bool:
    try:
        return _ASCII.decode(codec) == _ASCII.decode("ascii")
    except UnicodeError:
        return False


def _describe_bad_byte(content: bytes, uri: str, codec: str, error: UnicodeError) -> str:
    if not isinstance(error, UnicodeDecodeError):  # UTF-16 or UTF-32 without a mark, for example
        return f"{uri} is not text in {codec.upper()}: {error}. Convert it to UTF-8."
    line = content[: error.start].decode(codec, "replace").count("\n") + 1
    return (
        f"Line {line:,} of {uri} is not text in {codec.upper()}: byte {error.start:,} is 0x{content[error.start]:02x}. "
        "Convert the file to UTF-8, for example with `iconv -f CP1252 -t UTF-8`."
    )
