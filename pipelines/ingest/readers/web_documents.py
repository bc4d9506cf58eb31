"""Documents of web archives: the text of pages and of text files.

fastwarc parses the headers and decodes the bodies, and resiliparse extracts the main text of a page. Both get the bytes
of one record, so nothing in an archive is opened as a path or a URL.
"""

import io
import re
import zlib
from collections.abc import Container, Iterable, Iterator
from typing import NamedTuple

from fastwarc.warc import WarcHeader, WarcRecord, WarcRecordType
from resiliparse.extract.html2text import extract_plain_text

from pipelines.ingest.raw_documents import BadRecord, Decision, RawDocument, ReadRecord, SkippedRecord, escape_excerpt
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.readers.archive_records import MAX_HEADER_BYTES, WARC, ArchiveRecord, check_header
from pipelines.ingest.readers.media_types import (
    BEGINNING_BYTES,
    HTML,
    OTHER,
    choose_media_type,
    may_be_document,
    parse_charset,
)
from pipelines.ingest.readers.text_encoding import SAMPLE_BYTES, EncodingChoice, NotTextError, choose_encoding
from pipelines.ingest.sources import Source

WEB_TYPES = (WarcRecordType.response, WarcRecordType.resource, WarcRecordType.conversion)

# Field that crawlers, such as CommonCrawl's, add after they have examined a payload.
IDENTIFIED_TYPE = "WARC-Identified-Payload-Type"

# Names of the fields of a header. They are case-insensitive (ISO 28500:2017, section 4), and fastwarc needs some of
# them in the usual case.
FIELD_NAME = re.compile(rb"^([A-Za-z0-9-]+)[ \t]*:", re.MULTILINE)
CONTENT_TYPE = re.compile(rb"^Content-Type:[^\n]*\n", re.MULTILINE)
USUAL_NAMES = {b"warc-type": b"WARC-Type", b"content-type": b"Content-Type", b"content-length": b"Content-Length"}

# Beginning of gzip data.
GZIP_MAGIC = b"\x1f\x8b\x08"

# Elements that are never part of the main text.
SKIPPED_ELEMENTS = ("header", "nav", "aside", "footer", "figure", "figcaption", "button")

# The beginning of a page that can declare its encoding, and the declaration.
META_BYTES = 4096
META_CHARSET = re.compile(rb"""<meta\b[^>]{0,500}?\bcharset\s*=\s*["']?\s*([\w.:-]{1,40})""", re.IGNORECASE)

# Maximum depth of nested <div> elements. resiliparse needs a time that is quadratic in the depth.
MAX_DEPTH = 1_000
DIV = re.compile(r"<(/?)div\b", re.IGNORECASE)

# Maximum number of attributes of one element. The parser needs a time that is quadratic in the number.
MAX_ATTRIBUTES = 5_000


class Payload(NamedTuple):
    """Decoded payload of a response or of a resource."""

    content: bytes
    media_type: str
    """`HTML` or `TEXT`."""
    reason: str
    """What decided about the media type, if it is not the one that the server sent; else an empty string."""
    charset: str | None
    """Encoding that the header declares."""


class _BadRecordError(Exception):
    """Reason and problem of a bad record."""


class _SkippedRecordError(Exception):
    """Reason for which a record is not a document."""


def read_documents(
    records: Iterable[ArchiveRecord | BadRecord],
    source: Source,
    options: ReadOptions,
    document_types: Container[WarcRecordType] = WEB_TYPES,
) -> Iterator[ReadRecord]:
    """Yield the documents of the records of an archive, with all skipped and bad records.

    Args:
        records: the records.
        source: the archive.
        options: options of the readers.
        document_types: types of records that can be documents. A `response` must have status 200. It is a document if
            it has HTML or plain text, as is a `resource`.
    """
    for record in records:
        if isinstance(record, BadRecord):
            yield record
            continue
        try:
            yield from _read_document(record, options, document_types)
        except _SkippedRecordError as error:
            yield SkippedRecord(record.offset, *error.args)
        except _BadRecordError as error:
            reason, problem = error.args
            message = f"The record at byte {record.offset:,} of {source.uri} {problem}."
            yield BadRecord(record.offset, reason, message, escape_excerpt(record.body))


def _read_document(
    record: ArchiveRecord, options: ReadOptions, document_types: Container[WarcRecordType]
) -> list[ReadRecord]:
    """Return the decisions about a record, and its document."""
    record = record._replace(header=_usual_header(record.header))
    try:
        parsed = WarcRecord.from_bytes(record.header)
    except (OSError, ValueError) as error:
        raise _BadRecordError("bad header", f"has a header that cannot be parsed ({error})") from None
    record_type = parsed.record_type
    if record_type not in document_types:
        raise _SkippedRecordError(f"{record_type} record")
    if record_type == WarcRecordType.response and record.body.startswith(b"HTTP/") and not parsed.is_http:
        record = record._replace(header=_http_header(record.header))
    decisions: list[ReadRecord] = []
    if record_type == WarcRecordType.conversion:
        text = record.body.decode(options.encoding or "utf-8", errors="replace")
    else:
        text = _page_text(record, options, decisions)
    headers = parsed.headers
    document = RawDocument(
        (text,),
        record.offset,
        (headers.get(WarcHeader.WARC_TARGET_URI) or "").strip("<>"),
        headers.get(WarcHeader.WARC_DATE) or "",
        headers.get("WARC-Identified-Content-Language") or "",
    )
    return [*decisions, document]


def _usual_header(header: bytes) -> bytes:
    """Return the header of a record with the usual names of its fields, and the line ends that fastwarc needs."""
    header = FIELD_NAME.sub(lambda match: USUAL_NAMES.get(match[1].lower(), match[1]) + b":", header)
    return header.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


def _http_header(header: bytes) -> bytes:
    """Return the header of a record that says that the body is an HTTP response, which some archives do not say."""
    first, _, rest = CONTENT_TYPE.sub(b"", header).partition(b"\r\n")
    return first + b"\r\nContent-Type: application/http; msgtype=response\r\n" + rest


def _page_text(record: ArchiveRecord, options: ReadOptions, decisions: list[ReadRecord]) -> str:
    """Return the text of a response or of a resource, and add what was decided about it."""
    payload = _decoded_payload(record, options.max_record_bytes)
    content, is_html = payload.content, payload.media_type == HTML
    declared = filter(None, (payload.charset, _meta_charset(content, is_html)))
    try:
        if options.encoding:
            encoding = EncodingChoice(options.encoding)
        else:
            encoding = choose_encoding(content[:SAMPLE_BYTES], tuple(declared), is_markup=is_html)
    except NotTextError as error:
        raise _BadRecordError("not text", f"is {error}, not text") from None
    if payload.reason:
        decisions.append(Decision(f"page read as {payload.media_type} ({payload.reason})"))
    decisions.extend(encoding.decisions("page"))
    text = content.decode(encoding.codec, errors="replace").removeprefix("\ufeff")
    return _main_text(text) if is_html else text


def _decoded_payload(record: ArchiveRecord, max_bytes: int) -> Payload:
    """Return the payload of a response or of a resource.

    Some crawlers store decoded bodies, but keep the headers of the encoded ones. Therefore a body that cannot be
    decoded is returned as it is, and is refused later if it is not text.
    """
    header_end = WARC.header_end.search(record.body, 0, MAX_HEADER_BYTES)
    for auto_decode in ("all", "transfer", "content", "none"):
        parsed = WarcRecord.from_reader(io.BytesIO(record.header + record.body), quirks_mode=True)
        identified = parsed.headers.get(IDENTIFIED_TYPE)
        if not parsed.is_http:
            if parsed.record_type == WarcRecordType.response:
                raise _SkippedRecordError("not a web page")  # such as the answer of a DNS server
            return _make_payload(record.body, identified, parsed.headers.get("Content-Type"))
        if problem := check_header(record.body[: header_end.end() if header_end else MAX_HEADER_BYTES + 1]):
            raise _BadRecordError("large header", problem)
        try:
            parsed.parse_http(auto_decode=auto_decode, max_header_len=MAX_HEADER_BYTES, quirks_mode=True)
            status = parsed.http_headers.status_code
            if status is None or not 100 <= status <= 999:
                raise _BadRecordError("no HTTP status", "has no HTTP status")
            if status != 200:
                raise _SkippedRecordError(f"status {status}")
            served = parsed.http_headers.get("Content-Type")
            if not may_be_document(identified, served):
                raise _SkippedRecordError("not a web page")
            content = parsed.reader.read(max_bytes + 1)
            is_deflated = auto_decode != "all" and "deflate" in (parsed.http_headers.get("Content-Encoding") or "")
            content = _inflate(content, max_bytes + 1, is_deflated=is_deflated)
        except (OSError, ValueError):
            continue
        if len(content) > max_bytes:
            raise _BadRecordError("too large", f"is larger than {max_bytes >> 20} MiB: raise `max_record_mib`")
        return _make_payload(content, identified, served)
    raise _BadRecordError("bad HTTP response", "has an HTTP response that cannot be parsed")


def _inflate(content: bytes, max_bytes: int, *, is_deflated: bool) -> bytes:
    """Return at most `max_bytes` of a payload without a compression that fastwarc does not decode.

    These are gzip without a header that says so, and deflate without zlib's header, which browsers accept. Payloads
    that cannot be decompressed are returned as they are.
    """
    if not is_deflated and not content.startswith(GZIP_MAGIC):
        return content
    decompressor = zlib.decompressobj(wbits=-zlib.MAX_WBITS if is_deflated else zlib.MAX_WBITS | 16)
    try:
        decompressed = decompressor.decompress(content, max_bytes)
    except zlib.error:
        return content
    return decompressed if decompressor.eof or len(decompressed) == max_bytes else content


def _make_payload(content: bytes, identified: str | None, content_type: str | None) -> Payload:
    media_type, reason = choose_media_type(identified, content_type, content[:BEGINNING_BYTES])
    if media_type == OTHER:
        raise _SkippedRecordError("not a web page")
    return Payload(content, media_type, reason, parse_charset(content_type))


def _meta_charset(payload: bytes, is_html: bool) -> str | None:
    match = META_CHARSET.search(payload, 0, META_BYTES) if is_html else None
    return match[1].decode("ascii", errors="replace") if match else None


def _main_text(html: str) -> str:
    """Return the main text of a page, without navigation, comments and captions."""
    _check_complexity(html)
    return extract_plain_text(
        html,
        main_content=True,
        alt_texts=False,
        comments=False,
        post_meta=False,
        list_bullets=False,
        skip_elements=SKIPPED_ELEMENTS,
    )


def _check_complexity(html: str) -> None:
    # The longest part between two elements can also be a script.
    name, *attributes = max(html.split(">"), key=len).rpartition("<")[2].split(None, MAX_ATTRIBUTES + 1) or [""]
    if name.replace("-", "").isalnum() and len(attributes) > MAX_ATTRIBUTES:
        raise _BadRecordError("complex page", f"has an element with more than {MAX_ATTRIBUTES:,} attributes")
    if html.count("<div") <= MAX_DEPTH and html.count("<DIV") <= MAX_DEPTH:
        return
    depth = 0
    for match in DIV.finditer(html):
        depth += -1 if match[1] else 1
        if depth > MAX_DEPTH:
            raise _BadRecordError("complex page", f"has more than {MAX_DEPTH:,} nested <div> elements")
