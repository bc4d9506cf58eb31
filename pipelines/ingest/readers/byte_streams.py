"""Sources as streams of decompressed bytes.

`bitcipher.files.storage` opens the files, with the same URIs and credentials as for listing. smart_open only
decompresses them, because it does not support memory:// and needs other settings for S3. gzip files are decompressed by
isal, which is four times as fast as Python's gzip. All decompressors read files of several members, and raise an error
for truncated files, and for other data than a member after a complete one.

A source whose content is of another kind than its name says is refused: an option of the user beats the bytes, and
bytes that prove what they are beat a name.
"""

import bz2
import codecs
import io
import lzma
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from lzma import LZMAError
from types import ModuleType
from typing import IO, Any, cast

from isal import igzip, isal_zlib
from lz4.frame import LZ4FrameFile

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from pipelines.ingest.block_hashes import VerifiedStream
from pipelines.ingest.content_kinds import (
    BEGINNING_BYTES,
    ContentKind,
    compression_of_bytes,
    has_control_characters,
    identify_binary,
    identify_content,
    may_begin,
)
from pipelines.ingest.raw_documents import EXCERPT_CHARACTERS, BadRecord, escape_excerpt
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.readers.member_stream import MemberStream
from pipelines.ingest.sources import Source, compression_of

if sys.version_info >= (3, 14):
    from compression.zstd import ZstdDecompressor, ZstdDict, ZstdError
else:
    from backports.zstd import ZstdDecompressor, ZstdDict, ZstdError

# Formats of web archives, of which gzip compresses each record.
ARCHIVES = ("wet", "warc", "arc")

# Bytes read or decompressed at a time: large enough that the overhead of Python does not matter.
BUFFER_BYTES = 1 << 18


# First frame of a `.warc.zst` file with a dictionary, beginnings of its content, and maximum size of the dictionary:
# wget-at and the tools of the Internet Archive write 1 MiB.
DICTIONARY_FRAME = b"\x5d\x2a\x4d\x18"
DICTIONARY_MAGIC = b"\x37\xa4\x30\xec"
ZSTD_FRAME = b"\x28\xb5\x2f\xfd"
MAX_DICTIONARY_BYTES = 1 << 25

# Names of formats in sentences.
NAMES = {
    "text": "plain text",
    "jsonl": "JSON lines",
    "parquet": "Parquet",
    "arrow": "Arrow",
    "wet": "a WET file",
    "warc": "a WARC file",
    "arc": "an ARC file",
}


class _Lz4File(LZ4FrameFile):
    # For damage, lz4 raises RuntimeError. Other decompressors raise OSError.
    def read(self, size: int = -1) -> bytes:
        try:
            return super().read(size)
        except RuntimeError as error:
            raise OSError(str(error)) from None

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        try:
            return super().seek(offset, whence)
        except RuntimeError as error:
            raise OSError(str(error)) from None


def _open_lz4(file: IO[bytes], mode: str, **settings: Any) -> IO[bytes]:
    return io.BufferedReader(_Lz4File(file, mode, **settings), BUFFER_BYTES)  # pyright: ignore[reportArgumentType]


def _open_igzip(file: IO[bytes], mode: str, **settings: Any) -> IO[bytes]:
    return io.BufferedReader(cast(igzip.IGzipFile, igzip.open(file, mode, **settings)), BUFFER_BYTES)


def _open_bz2(file: IO[bytes], mode: str) -> IO[bytes]:
    return io.BufferedReader(MemberStream(file, bz2.BZ2Decompressor, BUFFER_BYTES), BUFFER_BYTES)


def _open_xz(file: IO[bytes], mode: str) -> IO[bytes]:
    # The default format also accepts old .lzma files. They begin with few fixed bits, so it can accept damaged headers.
    stream = MemberStream(file, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ), BUFFER_BYTES)
    return io.BufferedReader(stream, BUFFER_BYTES)


def _open_zst(file: IO[bytes], mode: str) -> IO[bytes]:
    dictionary = _read_dictionary(file)
    # The decompressor skips the frame of the dictionary, as all frames of its kind.
    file.seek(0)
    stream = MemberStream(file, lambda: ZstdDecompressor(zstd_dict=dictionary), BUFFER_BYTES)
    return io.BufferedReader(stream, BUFFER_BYTES)


def _read_dictionary(file: IO[bytes]) -> ZstdDict | None:
    """Return the dictionary in the first frame of a file, as in `.warc.zst` files (IIPC 2021), or None."""
    header = file.read(8)
    if not header.startswith(DICTIONARY_FRAME) or len(header) < 8:
        return None
    size = int.from_bytes(header[4:], "little")
    content = file.read(size) if size <= MAX_DICTIONARY_BYTES else b""
    if len(content) < size:
        raise OSError("the dictionary at its beginning is incomplete or too large")
    if content.startswith(ZSTD_FRAME):
        content = ZstdDecompressor().decompress(content, MAX_DICTIONARY_BYTES)
    return ZstdDict(content, is_raw=not content.startswith(DICTIONARY_MAGIC))


# Name of each compression in smart_open, and its decompressor. The names are new, because replacing .gz would change
# smart_open for all other code in the process.
_DECOMPRESSORS = {
    ".gz": (".igzip", _open_igzip),
    ".zst": (".zst-members", _open_zst),
    ".lz4": (".lz4-safe", _open_lz4),
    ".bz2": (".bz2-members", _open_bz2),
    ".xz": (".xz-members", _open_xz),
}


@cache
def _smart_open() -> ModuleType:
    """Return smart_open's module of compressions, which has the decompressors.

    It is imported by the first compressed file, because smart_open imports the clients of all stores that it finds.
    """
    from smart_open import compression

    for name, decompressor in _DECOMPRESSORS.values():
        compression.register_compressor(name, decompressor)
    return compression


@contextmanager
def open_decompressed(source: Source) -> Iterator[io.BufferedReader]:
    """Open a source as a stream of decompressed bytes.

    Raises:
        BitcipherError: if the source cannot be opened, or while the block reads, if the file is damaged or truncated.
    """
    with (
        translating_damage(source.uri),
        open_stored(source) as stored,
        _decompressed(stored, find_compression(source, stored)) as stream,
    ):
        yield stream


@contextmanager
def open_stored(source: Source) -> Iterator[io.BufferedReader]:
    """Open a source as a stream of its stored bytes, which are compared with what was listed and hashed.

    Raises:
        BitcipherError: if the source cannot be opened, or while the block reads, if it has changed.
    """
    with storage.reading(source.read_uri) as stored:
        yield io.BufferedReader(VerifiedStream(stored, source.uri, source.size, source.block_hashes), BUFFER_BYTES)


@contextmanager
def translating_damage(uri: str) -> Iterator[None]:
    """Translate the errors of decompressors and files into a `BitcipherError` that names the source."""
    try:
        yield
    except EOFError:
        raise BitcipherError(
            f"{uri} is truncated: it ends in the middle of its compressed data. Download it again."
        ) from None
    except (OSError, isal_zlib.error, LZMAError, ZstdError) as error:  # pyright: ignore[reportGeneralTypeIssues] (isal's stub)
        raise BitcipherError(
            f"Cannot read {uri}: {str(error).rstrip('.')}. If it is damaged, download it again."
        ) from error


def find_compression(source: Source, stored: io.BufferedReader) -> str:
    """Return the ending of the compression of a stream at its beginning, or an empty string.

    The first bytes decide. A file whose name has the ending of a compression is uncompressed if its first bytes prove
    another kind of content, or are text; else it is a damaged file of that compression.
    """
    beginning = stored.peek(BEGINNING_BYTES)[:BEGINNING_BYTES]
    named = compression_of(source.uri)
    if found := compression_of_bytes(beginning):
        return found
    if not named or may_begin(beginning, named):
        return named
    kind = identify_binary(beginning)
    # Noise before the members of an archive loses only itself.
    is_other = kind is not None and (source.format in kind.formats or source.format not in ARCHIVES)
    has_mark = beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return "" if is_other or has_mark or not has_control_characters(beginning) else named


def _decompressed(stored: Any, compression: str) -> Any:
    """Return a stream with `peek`, which the types of fsspec and smart_open lack."""
    if not compression:
        return stored
    name, _ = _DECOMPRESSORS.get(compression, (compression, None))
    return _smart_open().compression_wrapper(stored, "rb", compression=name)


def _read_line(stream: IO[bytes], source: Source, number: int, limit: int) -> bytes:
    try:
        return stream.readline(limit)
    except EOFError:
        raise _truncated(source, number) from None


def _truncated(source: Source, number: int) -> BitcipherError:
    return BitcipherError(
        f"{source.uri} is truncated: it ends in the middle of its compressed data, after line {number:,}. Download it "
        "again."
    )


def _too_large(source: Source, number: int, limit: int, beginning: str) -> BadRecord:
    message = f"Line {number} of {source.uri} is longer than {limit >> 20} MiB: raise `max_record_mib`."
    return BadRecord(number, "too large", message, beginning)


def iter_lines(stream: IO[bytes], source: Source, limit: int) -> Iterator[tuple[int, bytes | BadRecord]]:
    """Yield the number, from 1, and the bytes of each line; for lines above `limit` bytes, a bad record."""
    number = 0
    while line := _read_line(stream, source, number, limit + 1):
        number += 1
        if len(line) <= limit:
            yield number, line
            continue
        beginning = escape_excerpt(line)
        while line and not line.endswith(b"\n"):
            line = _read_line(stream, source, number, limit)
        yield number, _too_large(source, number, limit, beginning)


def iter_line_blocks(stream: io.BufferedReader, source: Source, limit: int) -> Iterator[tuple[int, bytes | BadRecord]]:
    """Yield blocks of whole lines, each with the number of its first line, from 1; for lines above `limit` bytes, a bad
    record.

    Only the last line can lack a line feed.

    Args:
        stream: the bytes.
        source: the source, for messages.
        limit: maximum number of bytes of a line, with its line feed; at least `BUFFER_BYTES`.
    """
    number = 1
    parts: list[bytes] = []  # beginning of a line whose end is not read yet; only an excerpt of a line above the limit
    size = 0  # number of bytes of this beginning
    while data := _read_block(stream, source, number - 1):
        first, end = data.find(b"\n") + 1, data.rfind(b"\n") + 1
        if not first:
            parts.append(data)
            size += len(data)
            if size > limit:
                parts = [b"".join(parts)[:EXCERPT_CHARACTERS]]
            continue
        if size + first > limit:
            yield number, _too_large(source, number, limit, escape_excerpt(b"".join([*parts, data[:first]])))
            number += 1
            block = data[first:end]
        else:
            block = b"".join([*parts, data[:end]])
        if block:
            yield number, block
            number += block.count(b"\n")
        parts, size = [data[end:]], len(data) - end
    if size > limit:
        yield number, _too_large(source, number, limit, escape_excerpt(b"".join(parts)))
    elif size:
        yield number, b"".join(parts)


def _read_block(stream: io.BufferedReader, source: Source, number: int) -> bytes:
    try:
        return stream.read1(BUFFER_BYTES)
    except EOFError:
        raise _truncated(source, number) from None


def check_kind(source: Source, options: ReadOptions, kind: ContentKind | None) -> None:
    """Check that the kind of a content is that of its format, unless the user has given the format.

    Raises:
        BitcipherError: if it is of another kind.
    """
    if kind is None or options.format is not None or source.format in kind.formats:
        return
    advice = f"give `--format {kind.formats[0]}`" if kind.formats else kind.advice
    if source.format == "text":
        advice += ", or give `--format text` to read it as plain text"
    raise BitcipherError(f"{source.uri} is {kind.noun}, and its name is that of {NAMES[source.format]}: {advice}.")


def check_content(source: Source, options: ReadOptions) -> None:
    """Check the first bytes of a source that could not be read in its format.

    Raises:
        BitcipherError: if they prove that it is of another kind.
    """
    try:
        with open_decompressed(source) as stream:
            beginning = stream.read(BEGINNING_BYTES)
    except BitcipherError:
        return  # its compressed data is damaged, which the reader reports
    kind = identify_content(beginning)
    if kind is not None and source.format not in kind.formats and options.format is not None:
        raise BitcipherError(f"{source.uri} is {kind.noun}, not {NAMES[source.format]}: give another `--format`.")
    check_kind(source, options, kind)
