"""Encodings of text: detection, and streams of other encodings as UTF-8.

The encoding of a source is decided from its first MiB, so it does not depend on how the source is read:

1. a byte order mark of UTF-8, UTF-16 or UTF-32;
2. a declared encoding: the HTTP header or the `meta` element of a web page;
3. UTF-8, if the bytes are valid, or if at least half of the characters outside ASCII are;
4. the guess of resiliparse's detector, or of charset-normalizer if the first contradicts rule 3.

Bytes that are not valid in the chosen encoding become U+FFFD. That includes bytes of another encoding that first occur
after the first MiB of a source.
"""

import codecs
import io
from collections.abc import Iterator
from contextlib import contextmanager

from charset_normalizer import from_bytes
from resiliparse.parse.encoding import detect_encoding, detect_mime, map_encoding_to_html5

from bitcipher.errors import BitcipherError
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.readers.byte_streams import BUFFER_BYTES, open_decompressed
from pipelines.ingest.sources import Source

# Number of bytes at the beginning of a source from which its encoding is decided.
SAMPLE_BYTES = 1 << 20

# Number of bytes, of the lines that are not ASCII, that the detectors examine: enough for the rarest letters to occur.
GUESS_BYTES = 1 << 16

# Maximum share of control characters in text, beyond the first two. Compressed data has 1 in 10, and English text in
# UTF-16 has 1 in 2.
MAX_CONTROL_SHARE = 0.01
CONTROL_CHARACTERS = bytes(set(range(28)) - set(b"\t\n\v\f\r\x1b"))  # 28 to 31 separate records of text

# Formats that can have few control characters in their first MiB. Other formats are found by these characters, because
# words can have the same first bytes as a format.
BINARY_TYPES = ("application/pdf", "application/zip", "application/gzip", "image/png", "image/jpeg")

# UTF-32 is first, because its mark begins with that of UTF-16.
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class NotTextError(ValueError):
    """Bytes are not text. The message is a noun phrase that says what they are."""


def choose_encoding(beginning: bytes, declared: str | None = None) -> str:
    """Return the Python codec of a text.

    Args:
        beginning: the first `SAMPLE_BYTES` bytes, or all bytes of a shorter text.
        declared: encoding that a header declares, as a label of the WHATWG standard. Unknown labels are ignored.

    Raises:
        NotTextError: if the bytes are binary data.
    """
    mark = next((codec for mark, codec in BYTE_ORDER_MARKS if beginning.startswith(mark)), None)
    if mark:
        return mark
    check_is_text(beginning)
    codec = map_encoding_to_html5(declared, fallback_utf8=False) if declared else None
    if codec and codec != "utf-8":
        return codec
    return "utf-8" if _is_mostly_utf8(beginning) else _guess(beginning)


def check_is_text(beginning: bytes) -> None:
    """Raise `NotTextError` if bytes are of a binary format, or have too many control characters."""
    mime = detect_mime(beginning[:64])
    controls = len(beginning) - len(beginning.translate(None, CONTROL_CHARACTERS))
    if controls > 2 + MAX_CONTROL_SHARE * len(beginning) or mime in BINARY_TYPES:
        raise NotTextError(f"binary data ({mime})")


def _is_mostly_utf8(sample: bytes) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")
    try:
        decoder().decode(sample)  # the last character may be incomplete
        return True
    except UnicodeDecodeError:
        text = decoder(errors="replace").decode(sample)
    replaced = text.count("\ufffd")
    not_ascii = len(text) - len(text.encode("ascii", errors="ignore"))
    return not_ascii >= 2 * replaced


def _guess(sample: bytes) -> str:
    lines = b"\n".join(line for line in sample.split(b"\n") if not line.isascii())[:GUESS_BYTES]
    codec = detect_encoding(lines)
    if codec in (None, "utf-8"):
        match = from_bytes(lines).best()
        codec = match.encoding if match else "cp1252"
    return codec


@contextmanager
def open_text(source: Source, options: ReadOptions) -> Iterator[io.BufferedReader]:
    """Open a text file as a stream of UTF-8 bytes, without a byte order mark.

    Raises:
        BitcipherError: if the source cannot be opened or is not text, or while the block reads, if it is damaged.
    """
    with open_decompressed(source) as stream:
        beginning = bytearray()
        error = None
        try:
            while len(beginning) < SAMPLE_BYTES and (data := stream.read1(SAMPLE_BYTES - len(beginning))):
                beginning += data
        except Exception as damage:  # raised again when the bytes before the damage have been read
            error = damage
        content = bytes(beginning)
        try:
            codec = options.encoding or choose_encoding(content)
        except NotTextError as reason:
            raise BitcipherError(
                f"{source.uri} is {reason}, not text: remove it from the sources, add the ending of its compression to "
                "its name, or set `encoding`."
            ) from None
        if codec == "utf-8-sig":
            content, codec = content.removeprefix(codecs.BOM_UTF8), "utf-8"
        try:
            yield io.BufferedReader(_Utf8Stream(content, stream, error, codec), BUFFER_BYTES)
        except UnicodeError as reason:  # some codecs raise it although invalid bytes are replaced
            raise BitcipherError(
                f"{source.uri} cannot be decoded as {codec}: {reason}. Set `encoding` to the encoding of the file."
            ) from None


class _Utf8Stream(io.RawIOBase):
    """Text in any encoding as UTF-8.

    Args:
        beginning: bytes that were already read.
        stream: the remaining bytes.
        error: error to raise in place of the remaining bytes.
        codec: Python codec of the bytes.
    """

    def __init__(self, beginning: bytes, stream: io.BufferedReader, error: Exception | None, codec: str):
        self._stream = stream
        self._error = error
        is_utf8 = codecs.lookup(codec).name == "utf-8"
        self._decoder = None if is_utf8 else codecs.getincrementaldecoder(codec)(errors="replace")
        self._ready = memoryview(self._convert(beginning))

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # pyright: ignore[reportIncompatibleMethodOverride] (Buffer)
        while not self._ready:
            if self._error:
                raise self._error
            if self._decoder is None:
                return self._stream.readinto(buffer)
            data = self._stream.read(BUFFER_BYTES)
            self._ready = memoryview(self._convert(data, is_last=not data))
            if not data:
                break
        count = min(len(buffer), len(self._ready))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def _convert(self, data: bytes, is_last: bool = False) -> bytes:
        return self._decoder.decode(data, is_last).encode(errors="replace") if self._decoder else data
