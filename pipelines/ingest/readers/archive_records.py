"""Records of web archives: WARC, WET and ARC files are divided into records, whatever else is in them.

fastwarc and warcio accept truncated files and wrong lengths without an error, and stop at damage. Therefore this module
finds the beginning and the end of every record, and libraries parse only what is between. A length is accepted if the
next record, or the end of the file, follows the body, or if the digest of the body is right. Otherwise the record is
bad, and reading resumes at the next beginning of a record, which can be inside of what the length covers.
"""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from fastwarc.warc import WarcRecord

from pipelines.ingest.raw_documents import BadRecord, escape_excerpt
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.readers.archive_blocks import ArchiveBlocks, GzipBlocks, StreamBlocks
from pipelines.ingest.readers.archive_window import ArchiveWindow
from pipelines.ingest.readers.byte_streams import check_content, find_compression, open_decompressed, open_stored
from pipelines.ingest.sources import Source

MAX_HEADER_BYTES = 1 << 16
MAX_LINE_BYTES = 1 << 14
MAX_HEADERS = 1_000

# Reasons of bytes that are no record, and of the last record if it is incomplete. Files of other kinds have only these.
NOT_A_RECORD = "not a record"
TRUNCATED = "truncated"

# Number of times that a source is read again from the header of a large record whose length is wrong. The limit keeps
# the time linear for a source in which all lengths are wrong.
MAX_REWINDS = 8

# Line endings between records.
BLANK = b"\r\n"
BLANK_LINES = re.compile(rb"[\r\n]+")


class ArchiveSyntax(NamedTuple):
    """How the records of a format begin."""

    start: re.Pattern[bytes]
    """First line of a record."""
    partial_start: re.Pattern[bytes]
    """First line of a record that is truncated inside this line."""
    next_start: re.Pattern[bytes]
    """First line of a record, after the last line of another."""
    next_start_lf: re.Pattern[bytes]
    """The same in files whose headers have lines that end in \\n without \\r."""
    header_end: re.Pattern[bytes]
    """End of the header, with the empty line after it if the format has one."""
    length: re.Pattern[bytes]
    """Length of the body, in the header."""


WARC = ArchiveSyntax(
    re.compile(rb"WARC/\d{1,3}\.\d{1,3}\r?\n"),
    re.compile(rb"W(A(R(C(/[\d.]*\r?)?)?)?)?\Z"),
    # The text of a page rarely has such a line, because its lines end in \n without \r.
    re.compile(rb"\r\n(?=WARC/\d{1,3}\.\d{1,3}\r\n)"),
    re.compile(rb"\n(?=WARC/\d{1,3}\.\d{1,3}\n)"),
    re.compile(rb"\n\r?\n"),
    re.compile(rb"\n(?i:content-length)[ \t]*:[ \t]*(\d{1,18})[ \t]*\r?(?=\n)"),
)
# URL, IP address, date, media type, up to five other fields in version 2, and length.
_ARC_LINE = (
    rb"([A-Za-z][A-Za-z0-9+.-]{0,20}:[^\n]{0,16384}) [0-9a-fA-F.:-]{1,45} (\d{12,17}) (\S{1,200}+)(?: \S{1,200}+){0,5}?"
    rb" \d{1,18}[ \t]*\r?\n"
)
ARC = ArchiveSyntax(
    re.compile(_ARC_LINE),
    re.compile(rb"[A-Za-z][A-Za-z0-9+.-]{0,20}(:[^\n]*)?\Z"),
    re.compile(rb"\n(?=" + _ARC_LINE + rb")"),
    re.compile(rb"\n(?=" + _ARC_LINE + rb")"),
    re.compile(rb"\n"),
    re.compile(rb"(\d{1,18})[ \t]*\r?\n\Z"),
)


class ArchiveRecord(NamedTuple):
    """Header and body of a record."""

    offset: int
    header: bytes
    body: bytes


def iter_records(source: Source, options: ReadOptions, syntax: ArchiveSyntax) -> Iterator[ArchiveRecord | BadRecord]:
    """Yield the records of an archive in order, and a bad record for each part that is lost.

    Memory holds at most `options.max_record_bytes` of a body.
    """
    with _open_blocks(source, syntax) as blocks:
        records = _Framer(source, blocks, syntax, options.max_record_bytes).iter_records()
        has_record = False
        for record in records:
            has_record = (
                has_record or not isinstance(record, BadRecord) or record.reason not in (NOT_A_RECORD, TRUNCATED)
            )
            yield record
    if not has_record:
        check_content(source, options)


@contextmanager
def _open_blocks(source: Source, syntax: ArchiveSyntax) -> Iterator[ArchiveBlocks]:
    with open_stored(source) as stored:
        if find_compression(source, stored) == ".gz":
            yield GzipBlocks(source, stored, lambda content: syntax.start.match(content) is not None)
            return
    with open_decompressed(source) as stream:
        yield StreamBlocks(source, stream)


class _Framer:
    """Divides the bytes of an archive into records."""

    def __init__(self, source: Source, blocks: ArchiveBlocks, syntax: ArchiveSyntax, max_body_bytes: int):
        self._uri = source.uri
        self._syntax = syntax
        self._max_body_bytes = max_body_bytes
        self._window = ArchiveWindow(blocks)
        self._rewinds = 0
        self._next_pattern = syntax.next_start

    def iter_records(self) -> Iterator[ArchiveRecord | BadRecord]:
        window = self._window
        while True:
            while window.fill(1) and window.content[0] in BLANK:
                window.drop(BLANK_LINES.match(window.content).end())  # pyright: ignore[reportOptionalMemberAccess]
            if window.content:
                yield self._frame()
            elif gap := window.resume():
                yield gap
            else:
                return

    def _frame(self) -> ArchiveRecord | BadRecord:
        """Return the record at the beginning of the window, and drop it."""
        window, content = self._window, self._window.content
        while not (end := self._syntax.header_end.search(content, 0, MAX_HEADER_BYTES)):
            if len(content) >= MAX_HEADER_BYTES or not window.fill(len(content) + 1):
                break
        start = self._syntax.start.match(content)
        if not start:
            if end is None and len(content) < MAX_HEADER_BYTES:
                return self._lose_rest(0)
            return self._lose(1, NOT_A_RECORD, "does not begin with the header of a record")
        if end is None:
            if len(content) < MAX_HEADER_BYTES:
                return self._lose_rest(1)
            return self._lose(1, "large header", f"has a header above {MAX_HEADER_BYTES >> 10} KiB")
        self._next_pattern = self._syntax.next_start if start[0].endswith(BLANK) else self._syntax.next_start_lf
        header = bytes(content[: end.end()])
        if self._next_pattern.search(header):
            return self._lose(len(BLANK), NOT_A_RECORD, "has an incomplete header")
        if problem := check_header(header):
            return self._lose(len(header), "large header", problem)
        lengths = self._syntax.length.findall(header)
        if not lengths or lengths.count(lengths[0]) < len(lengths):
            return self._lose(len(header), "no length", "has no valid Content-Length")
        length = int(lengths[0])
        if length > self._max_body_bytes:
            return self._skip_large(len(header), length)
        stop = len(header) + length
        if not window.fill(stop):
            return self._lose_rest(len(header))
        if not self._is_complete(header, stop):
            return self._lose(len(header), "wrong length", f"has a wrong Content-Length, {length}")
        record = ArchiveRecord(window.offset, header, bytes(memoryview(content)[len(header) : stop]))
        window.drop(stop)
        return record

    def _is_complete(self, header: bytes, stop: int) -> bool:
        """Return whether a record ends at `stop`, and contains no other record."""
        window, content = self._window, self._window.content
        member_end = window.member_end(stop)
        ends_with_member = member_end is not None and not content[stop:member_end].strip(BLANK)
        if not ends_with_member and not self._is_followed(stop):
            return self._has_right_digest(stop)
        if ends_with_member and window.member_starts(0, stop) == [0] and window.offset > 0:
            return True  # the record fills its gzip member, which is not the only one
        if self._next_start(len(header), stop) is None:
            return True
        return self._has_right_digest(stop)  # either the length is wrong, or a page quotes a record

    def _has_right_digest(self, stop: int) -> bool:
        """Return whether the digest of a body, in the header of a WARC record, proves that it ends at `stop`."""
        try:
            record = WarcRecord.from_reader(io.BytesIO(self._window.content[:stop]), quirks_mode=True)
            return "WARC-Block-Digest" in record.headers and record.verify_block_digest()
        except (OSError, ValueError):
            return False

    def _is_followed(self, stop: int) -> bool:
        """Return whether the beginning of a record, or the end of the file, follows a position."""
        window = self._window
        window.fill(stop + MAX_LINE_BYTES)
        following = window.content[stop : stop + MAX_LINE_BYTES].lstrip(BLANK)
        if self._syntax.start.match(following):
            return True
        is_last = window.gap is None and not window.fill(stop + MAX_LINE_BYTES)
        return is_last and (not following or self._syntax.partial_start.match(following) is not None)

    def _skip_large(self, header_bytes: int, length: int) -> BadRecord:
        window = self._window
        offset = window.offset
        limit = self._max_body_bytes >> 20
        message = f"The record at byte {offset:,} of {self._uri} is larger than {limit} MiB: raise `max_record_mib`."
        bad_record = BadRecord(offset, "too large", message, escape_excerpt(bytes(window.content[:header_bytes])))
        window.drop(header_bytes)
        body = window.place
        if not (window.skip(length) and self._is_followed(0)) and self._rewinds < MAX_REWINDS:
            self._rewinds += 1
            window.rewind(body)
            self._find_start(0)
        return bad_record

    def _lose(self, start: int, reason: str, problem: str) -> BadRecord:
        """Drop the bytes before the next record, which begins at `start` or later; return a bad record."""
        offset = self._window.offset
        message = f"The record at byte {offset:,} of {self._uri} {problem}: download the file again."
        bad_record = BadRecord(offset, reason, message, escape_excerpt(bytes(self._window.content[:500])))
        self._find_start(start)
        if not self._window.content and (gap := self._window.resume()):
            return gap._replace(offset=offset, excerpt=bad_record.excerpt)  # the record and the gap are one loss
        return bad_record

    def _lose_rest(self, start: int) -> BadRecord:
        """Drop an incomplete record; return a bad record."""
        window = self._window
        if start and self._next_start(start) is not None:
            return self._lose(start, "wrong length", "has a Content-Length that is too large")
        excerpt = escape_excerpt(bytes(window.content[:500]))
        offset = window.offset
        if gap := window.resume():
            return gap._replace(offset=offset, excerpt=excerpt)
        message = f"{self._uri} is truncated: its last record, at byte {offset:,}, is incomplete. Download it again."
        return BadRecord(offset, TRUNCATED, message, excerpt)

    def _next_start(self, start: int, stop: int | None = None) -> int | None:
        """Return the first position from `start` to before `stop`, in the window, at which a record begins."""
        content = self._window.content
        stop = len(content) if stop is None else stop
        members = self._window.member_starts(start, stop)
        starts = [position for position in members if self._syntax.start.match(content, position)]
        # The pattern also needs the end of the preceding line, and its own line.
        if match := self._next_pattern.search(content, max(0, start - len(BLANK)), stop + MAX_LINE_BYTES):
            starts.append(match.end())
        return next((position for position in sorted(starts) if start <= position < stop), None)

    def _find_start(self, start: int) -> None:
        """Drop the bytes before the next record."""
        window = self._window
        while (position := self._next_start(start)) is None and not window.gap:
            # A line at the end of the window can continue.
            searched = max(0, len(window.content) - MAX_LINE_BYTES)
            window.drop(searched)
            start = max(0, start - searched)
            if not window.fill(len(window.content) + 1):
                position = len(window.content)
                break
        window.drop(len(window.content) if position is None else position)


def check_header(header: bytes) -> str:
    """Return what is wrong with the size of a header, or an empty string."""
    if len(header) <= MAX_HEADERS:
        return ""
    if len(header) > MAX_HEADER_BYTES:
        return f"has a header above {MAX_HEADER_BYTES >> 10} KiB"
    if header.count(b"\n") > MAX_HEADERS:
        return f"has more than {MAX_HEADERS:,} headers"
    if len(header) > MAX_LINE_BYTES and max(map(len, header.split(b"\n"))) > MAX_LINE_BYTES:
        return f"has a header line above {MAX_LINE_BYTES >> 10} KiB"
    return ""
