"""Documents of web archives: the text of pages and of text files.

fastwarc parses the headers and decodes the bodies, and resiliparse extracts the main text of a page. Both get the bytes
of one record, so nothing in an archive is opened as a path or a URL.
"""

import io
import re
from collections.abc import Container, Iterable, Iterator

from fastwarc.warc import WarcHeader, WarcRecord, WarcRecordType
from resiliparse.extract.html2text import extract_plain_text

from pipelines.ingest.raw_documents import BadRecord, RawDocument, ReadRecord, SkippedRecord, escape_excerpt
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.readers.archive_records import MAX_HEADER_BYTES, WARC, ArchiveRecord, check_header
from pipelines.ingest.readers.text_encoding import SAMPLE_BYTES, NotTextError, choose_encoding
from pipelines.ingest.sources import Source

WEB_TYPES = (WarcRecordType.response, WarcRecordType.resource, WarcRecordType.conversion)

HTML_TYPES = ("text/html", "application/xhtml+xml")
TEXT_TYPES = ("text/plain",)

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
            yield _read_document(record, options, document_types)
        except _SkippedRecordError as error:
            yield SkippedRecord(record.offset, *error.args)
        except _BadRecordError as error:
            reason, problem = error.args
            message = f"The record at byte {record.offset:,} of {source.uri} {problem}."
            yield BadRecord(record.offset, reason, message, escape_excerpt(record.body))


def _read_document(
    record: ArchiveRecord, options: ReadOptions, document_types: Container[WarcRecordType]
) -> RawDocument:
    try:
        # fastwarc needs \r\n here, which some files lack.
        parsed = WarcRecord.from_bytes(record.header.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    except (OSError, ValueError) as error:
        raise _BadRecordError("bad header", f"has a header that cannot be parsed ({error})") from None
    record_type = parsed.record_type
    if record_type not in document_types:
        raise _SkippedRecordError(f"{record_type} record")
    if record_type == WarcRecordType.conversion:
        text = record.body.decode(options.encoding or "utf-8", errors="replace")
    else:
        text = _page_text(record, options)
    headers = parsed.headers
    return RawDocument(
        (text,),
        record.offset,
        (headers.get(WarcHeader.WARC_TARGET_URI) or "").strip("<>"),
        headers.get(WarcHeader.WARC_DATE) or "",
        headers.get("WARC-Identified-Content-Language") or "",
    )


def _page_text(record: ArchiveRecord, options: ReadOptions) -> str:
    """Return the text of a response or of a resource."""
    media_type, charset, payload = _decoded_payload(record, options.max_record_bytes)
    is_html = media_type in HTML_TYPES
    try:
        codec = options.encoding or choose_encoding(payload[:SAMPLE_BYTES], charset or _meta_charset(payload, is_html))
    except NotTextError as error:
        raise _BadRecordError("not text", f"is {error}, not text") from None
    text = payload.decode(codec, errors="replace")
    return _main_text(text) if is_html else text


def _decoded_payload(record: ArchiveRecord, max_bytes: int) -> tuple[str, str | None, bytes]:
    """Return media type, declared encoding, and payload of a response or of a resource.

    Some crawlers store decoded bodies, but keep the headers of the encoded ones. Therefore a body that cannot be
    decoded is returned as it is, and is refused later if it is not text.
    """
    header_end = WARC.header_end.search(record.body, 0, MAX_HEADER_BYTES)
    for auto_decode in ("all", "none"):
        parsed = WarcRecord.from_reader(io.BytesIO(record.header + record.body), quirks_mode=True)
        if not parsed.is_http:
            if parsed.record_type == WarcRecordType.response:
                raise _SkippedRecordError("not a web page")  # such as the answer of a DNS server
            media_type = _media_type(parsed.headers.get("Content-Type"))
            _check_media_type(media_type)
            return media_type, None, record.body
        if problem := check_header(record.body[: header_end.end() if header_end else MAX_HEADER_BYTES + 1]):
            raise _BadRecordError("large header", problem)
        try:
            parsed.parse_http(auto_decode=auto_decode, max_header_len=MAX_HEADER_BYTES, quirks_mode=True)
            status = parsed.http_headers.status_code
            if status is None or not 100 <= status <= 999:
                raise _BadRecordError("no HTTP status", "has no HTTP status")
            if status != 200:
                raise _SkippedRecordError(f"status {status}")
            media_type = _media_type(parsed.http_content_type)
            _check_media_type(media_type)
            payload = parsed.reader.read(max_bytes + 1)
        except (OSError, ValueError):
            continue
        if len(payload) > max_bytes:
            raise _BadRecordError("too large", f"is larger than {max_bytes >> 20} MiB: raise `max_record_mib`")
        return media_type, parsed.http_charset, payload
    raise _BadRecordError("bad HTTP response", "has an HTTP response that cannot be parsed")


def _media_type(content_type: str | None) -> str:
    return (content_type or "").partition(";")[0].strip().lower()


def _check_media_type(media_type: str) -> None:
    if media_type not in (*HTML_TYPES, *TEXT_TYPES):
        raise _SkippedRecordError("not a web page")


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
