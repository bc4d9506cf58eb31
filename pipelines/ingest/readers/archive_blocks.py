"""Decompressed bytes of archives in blocks, with their positions and with the gaps that damage leaves.

CommonCrawl compresses each record as one gzip member. The members are decompressed one at a time, each block with
bounded output. After damage, or bytes that are no gzip member, reading resumes at the next member that begins with a
record, so only the damaged members are lost. Streams of other compressions cannot be read after damage.
"""

import io
import re
from collections.abc import Callable, Generator, Iterator
from lzma import LZMAError
from typing import IO, NamedTuple, Protocol

from isal import isal_zlib

from pipelines.ingest.raw_documents import BadRecord
from pipelines.ingest.readers.byte_streams import ZstdError
from pipelines.ingest.sources import Source

# Maximum number of bytes of a block.
BLOCK_BYTES = 1 << 18

# Number of stored bytes decompressed at a time: about one member, because the rest of the input is copied.
INPUT_BYTES = 1 << 15

# Number of stored bytes that are decompressed to find out whether a member begins with a record.
PROBE_BYTES = 1 << 12

# Number of bytes that may be read a second time after damage, if the source is smaller. The limit keeps the time
# linear for a source in which every member is damaged at its end.
MIN_REREAD_BYTES = 1 << 26

# Beginning of a gzip member: the magic number, the method, and flags whose reserved bits are zero.
GZIP_MEMBER = re.compile(rb"\x1f\x8b\x08[\x00-\x1f]")
GZIP_FLAGS = 31
NO_MEMBER = "no gzip member with the right checksum begins there"


class Block(NamedTuple):
    """Consecutive decompressed bytes."""

    content: bytes
    offset: int
    """Byte offset of the gzip member, or of the block in a decompressed stream."""
    is_start: bool
    """Whether a gzip member begins with the block."""
    is_end: bool
    """Whether a gzip member ends with the block, with the right checksum."""


class ArchiveBlocks(Protocol):
    """Blocks of an archive."""

    def iter_from(self, offset: int) -> Iterator[Block | BadRecord]:
        """Yield the blocks from an offset of a block, and a bad record for each gap between them."""
        ...


class StreamBlocks:
    """Blocks of a decompressed stream, which ends at the first damage."""

    def __init__(self, source: Source, stream: IO[bytes]):
        self._source = source
        self._stream = stream

    def iter_from(self, offset: int) -> Iterator[Block | BadRecord]:
        """Yield the blocks from a byte offset of the decompressed stream."""
        try:
            self._stream.seek(offset)
            while content := self._stream.read1(BLOCK_BYTES):  # pyright: ignore[reportAttributeAccessIssue] (a BufferedReader)
                yield Block(content, offset, False, False)
                offset += len(content)
        except (EOFError, LZMAError, ZstdError, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # the file cannot be read, which is not damage
            yield _gap(self._source, offset, isinstance(error, EOFError), "its compressed data is damaged")


class GzipBlocks:
    """Blocks of a file of gzip members."""

    def __init__(self, source: Source, stored: io.BufferedReader, begins_record: Callable[[bytes], bool]):
        self._source = source
        self._stored = stored
        self._begins_record = begins_record
        self._reread_bytes = max(source.size, MIN_REREAD_BYTES)

    def iter_from(self, offset: int) -> Iterator[Block | BadRecord]:
        """Yield the blocks from the byte offset of a member."""
        stored = self._stored
        stored.seek(offset)
        data = b""  # read, but not decompressed
        while data := _skip_padding(data, stored):
            member = stored.tell() - len(data)
            try:
                data = yield from self._iter_member(data, member)
                continue
            except EOFError:
                is_truncated = True
            except isal_zlib.error:  # pyright: ignore[reportGeneralTypeIssues] (isal's stub)
                is_truncated = False
            next_member = self._find_member(self._resume_offset(member))
            if next_member is None:
                yield _gap(self._source, member, is_truncated, NO_MEMBER)
                return
            yield _gap(self._source, member, False, NO_MEMBER)
            stored.seek(next_member)
            data = b""

    def _iter_member(self, data: bytes, member: int) -> Generator[Block, None, bytes]:
        """Yield the blocks of one member; return the bytes that were read after it."""
        decompressor = isal_zlib.decompressobj(GZIP_FLAGS)
        is_start = True
        while not decompressor.eof:
            content = decompressor.decompress(data, BLOCK_BYTES)
            yield Block(content, member, is_start, decompressor.eof)
            is_start = False
            data = decompressor.unconsumed_tail
            if not data and not decompressor.eof and len(content) < BLOCK_BYTES:
                data = self._stored.read(INPUT_BYTES)
                if not data:
                    raise EOFError
        return decompressor.unused_data

    def _resume_offset(self, member: int) -> int:
        """Return the offset from which to look for the next member after damage in a member."""
        reread_bytes = self._stored.tell() - member
        if reread_bytes > self._reread_bytes:
            return member + reread_bytes
        self._reread_bytes -= reread_bytes
        return member + 1

    def _find_member(self, start: int) -> int | None:
        """Return the offset of the next gzip member that begins with a record."""
        self._stored.seek(start)
        data = self._stored.read(BLOCK_BYTES)
        while data:
            following = self._stored.read(BLOCK_BYTES)
            both = data + following
            for match in GZIP_MEMBER.finditer(both):
                if match.start() >= len(data):
                    break
                if self._begins_record(_probe(both[match.start() : match.start() + PROBE_BYTES])):
                    return start + match.start()
            start += len(data)
            data = following
        return None


def _skip_padding(data: bytes, stored: IO[bytes]) -> bytes:
    """Return the next bytes that are not zeros. Some files are padded with zeros, as blocks of a tape."""
    while not (data := data.lstrip(b"\0")) and (data := stored.read(INPUT_BYTES)):
        pass
    return data


def _probe(data: bytes) -> bytes:
    try:
        return isal_zlib.decompressobj(GZIP_FLAGS).decompress(data, PROBE_BYTES)
    except isal_zlib.error:  # pyright: ignore[reportGeneralTypeIssues] (isal's stub)
        return b""


def _gap(source: Source, offset: int, is_truncated: bool, reason: str) -> BadRecord:
    if is_truncated:
        message = f"{source.uri} is truncated: it ends in the middle of compressed data that begins at byte {offset:,}."
        return BadRecord(offset, "truncated", f"{message} Download it again.")
    message = f"{source.uri} is damaged at byte {offset:,}: {reason}. Download it again."
    return BadRecord(offset, "damaged", message)
