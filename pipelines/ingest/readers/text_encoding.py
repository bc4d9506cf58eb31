"""Encodings of text: detection, and streams of other encodings as UTF-8.

The encoding of a source is decided from its first MiB, so it does not depend on how the source is read:

1. a byte order mark of UTF-8, UTF-16 or UTF-32;
2. UTF-8, if the bytes prove it, whatever a header or the `meta` element of a web page declares;
3. a declared encoding. If Latin-1 or Windows-1252 is declared, which servers do for all pages, a detected encoding of
   another script overrules it;
4. UTF-8, if the bytes are valid, or if at least half of the characters outside ASCII are;
5. a guess (see `charset_guess`).

Bytes that are not valid in the chosen encoding become U+FFFD. That includes bytes of another encoding that first occur
after the first MiB of a source.
"""

import codecs
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from resiliparse.parse.encoding import detect_mime, map_encoding_to_html5

from bitcipher.errors import BitcipherError
from pipelines.ingest.content_kinds import BEGINNING_BYTES, has_control_characters, identify_binary, identify_text
from pipelines.ingest.raw_documents import Decision
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.readers.byte_streams import BUFFER_BYTES, check_kind, open_decompressed
from pipelines.ingest.readers.charset_guess import DEFAULT_CHARSET, guess_charset, is_other_script, strip_markup
from pipelines.ingest.sources import Source

# Number of bytes at the beginning of a source from which its encoding is decided.
SAMPLE_BYTES = 1 << 20

# Number of characters outside ASCII that prove UTF-8 against another declared encoding, if all bytes are valid UTF-8.
# Text in other encodings is valid by chance if it is short: of 1.6 million pieces of real texts in 19 encodings, with
# up to twelve characters outside ASCII, 20 had three such characters in UTF-8, 5 had four, and none had five. Two
# Chinese characters in GBK are often valid. In encodings with a byte per letter, where only pairs of rare letters and
# symbols are valid, none had three (but Thai), and no piece in Windows-1252 was valid at all.
MIN_CHARACTERS = 5
MIN_CHARACTERS_FOR_LETTERS = 3
MIN_CHARACTERS_FOR_LATIN = 2
# Number of such characters for each invalid byte that is allowed.
CHARACTERS_PER_INVALID_BYTE = 20

# Supersets of encodings, which browsers use for their labels. Pages that declare the smaller ones have characters of
# the larger ones.
SUPERSETS = {
    **{"shift_jis": "cp932", "euc_kr": "cp949", "gbk": "gb18030", "gb2312": "gb18030"},
    **{"big5": "big5hkscs", "iso8859-11": "cp874"},
}

# What servers and templates declare for pages in any encoding. Labels such as iso-8859-1 and ascii mean cp1252.
LATIN_CODECS = (DEFAULT_CHARSET, "iso8859-15")
# Beginnings of the names of encodings with a byte per letter, without those of Thai.
LETTER_CODECS = ("cp125", "iso8859", "koi8", "cp866", "mac")

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


class EncodingChoice(NamedTuple):
    """Encoding of a text."""

    codec: str
    """Python codec."""
    reason: str = ""
    """What decided, if it is not what the source declares, such as "guessed"; else an empty string."""

    def decisions(self, noun: str) -> tuple[Decision, ...]:
        """Return the decision about a "file" or a "page", if there was one to make."""
        return (Decision(f"{noun} in {self.codec} ({self.reason})"),) if self.reason else ()


def choose_encoding(beginning: bytes, declared: Sequence[str] = (), *, is_markup: bool = False) -> EncodingChoice:
    """Return the encoding of a text.

    Args:
        beginning: the first `SAMPLE_BYTES` bytes, or all bytes of a shorter text.
        declared: encodings that headers declare, the most important first, as labels of the WHATWG standard. Unknown
            labels are ignored.
        is_markup: whether the text is a web page, whose tags are no evidence.

    Raises:
        NotTextError: if the bytes are binary data.
    """
    mark = next((codec for mark, codec in BYTE_ORDER_MARKS if beginning.startswith(mark)), None)
    if mark:
        return EncodingChoice(mark)
    declared_codecs = [codec for codec in map(_find_codec, declared) if codec]
    # A declaration that can be read as ASCII is not in UTF-16, whose ASCII letters have zero bytes.
    has_zeros = b"\0" in beginning
    declared_codecs = [codec for codec in declared_codecs if has_zeros or not codec.startswith("utf-16")]
    first = declared_codecs[0] if declared_codecs else "utf-8"
    if first.startswith("utf-16"):
        return EncodingChoice(first)
    check_is_text(beginning)
    if first != "utf-8":
        if _proves_utf8(beginning, first, "utf-8" in declared_codecs):
            return EncodingChoice("utf-8", f"{first} was declared")
        if first in LATIN_CODECS and not beginning.isascii():
            text = strip_markup(beginning) if is_markup else beginning
            for codec in (*declared_codecs[1:], _guess(text)):
                if is_other_script(text, codec):
                    return EncodingChoice(codec, f"{first} was declared")
        return EncodingChoice(first)
    if _is_mostly_utf8(beginning):
        return EncodingChoice("utf-8")
    others = [codec for codec in declared_codecs if codec != "utf-8"]
    if others:
        return EncodingChoice(others[0], "utf-8 was declared, too")
    return EncodingChoice(_guess(strip_markup(beginning) if is_markup else beginning), "guessed")


def _find_codec(label: str) -> str | None:
    codec = map_encoding_to_html5(label, fallback_utf8=False)
    return SUPERSETS.get(codec, codec) if codec else None


def _guess(text: bytes) -> str:
    codec = guess_charset(text)
    return SUPERSETS.get(codec, codec)


def check_is_text(beginning: bytes) -> None:
    """Raise `NotTextError` if bytes are of a binary format, or have too many control characters."""
    mime = detect_mime(beginning[:64])
    if has_control_characters(beginning) or mime in BINARY_TYPES:
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


def _proves_utf8(sample: bytes, declared: str, is_declared_too: bool) -> bool:
    """Return whether bytes prove UTF-8 against another declared encoding."""
    if sample.isascii():
        return False
    text = codecs.getincrementaldecoder("utf-8")(errors="replace").decode(sample)
    invalid = text.count("\ufffd") - sample.count("\ufffd".encode())
    characters = [character for character in text if character > "\x7f" and character != "\ufffd"]
    # Two letters in another encoding that are valid UTF-8 can be part of a name that a page repeats, as in NESCAFÉ®.
    rare = {character for character in characters if "\u0100" <= character < "\u0800"}
    number = len(rare) + sum(not "\u0100" <= character < "\u0800" for character in characters)
    if invalid:
        return number >= max(MIN_CHARACTERS, CHARACTERS_PER_INVALID_BYTE * invalid)
    needed = MIN_CHARACTERS_FOR_LETTERS if declared.startswith(LETTER_CODECS) else MIN_CHARACTERS
    if number >= (MIN_CHARACTERS_FOR_LATIN if declared in LATIN_CODECS else needed) or is_declared_too:
        return True
    try:
        codecs.getincrementaldecoder(declared)().decode(sample)
    except UnicodeDecodeError:
        return number > 0
    return False


@contextmanager
def open_text(source: Source, options: ReadOptions) -> Iterator[tuple[io.BufferedReader, EncodingChoice]]:
    """Open a text file as a stream of UTF-8 bytes, without a byte order mark; also yield its encoding.

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
        check_kind(source, options, identify_binary(content))
        try:
            choice = EncodingChoice(options.encoding) if options.encoding else choose_encoding(content)
        except NotTextError as reason:
            raise BitcipherError(
                f"{source.uri} is {reason}, not text: remove it from the sources, or set `encoding`."
            ) from None
        check_kind(source, options, identify_text(_decode_beginning(content, choice.codec)))
        codec = choice.codec
        try:
            yield io.BufferedReader(_Utf8Stream(content, stream, error, codec), BUFFER_BYTES), choice
        except UnicodeError as reason:  # some codecs raise it although invalid bytes are replaced
            raise BitcipherError(
                f"{source.uri} cannot be decoded as {codec}: {reason}. Set `encoding` to the encoding of the file."
            ) from None


def _decode_beginning(content: bytes, codec: str) -> str:
    try:
        decoder = codecs.getincrementaldecoder(codec)(errors="replace")
        return decoder.decode(content[:BEGINNING_BYTES]).removeprefix("\ufeff")
    except UnicodeError:  # some codecs raise it although invalid bytes are replaced; the reader reports it
        return ""


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
        is_utf8 = codecs.lookup(codec).name in ("utf-8", "utf-8-sig")
        self._decoder = None if is_utf8 else codecs.getincrementaldecoder(codec)(errors="replace")
        self._ready = memoryview(self._convert(beginning).removeprefix(codecs.BOM_UTF8))

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
