"""Reader for WET files, the plain text of Common Crawl's pages: one document per record of type `conversion`.

fastwarc silently accepts truncated files and wrong Content-Length headers. Therefore it reads a stream of
`byte_streams`, which raises an error at a premature end, and this module checks the length of every record. Records of
other types are checked too, because a wrong length would hide the documents that follow.
"""

import re
from collections.abc import Iterator

from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from bitcipher.errors import BitcipherError
from pipelines.ingest.raw_documents import BadRecord, RawDocument
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.readers.byte_streams import open_decompressed
from pipelines.ingest.sources import Source

# End of a record and first line of the next. The text of a page cannot match, because its lines end in \n without \r.
NEXT_RECORD = re.compile(rb"\r\n\r\nWARC/\d+\.\d+\r\n")


def read(source: Source, options: ReadOptions) -> Iterator[RawDocument | BadRecord]:
    """Yield the texts of the `conversion` records; bytes that are not UTF-8 become U+FFFD.

    Raises:
        BitcipherError: if the length of a record is missing, wrong, or beyond the end of the file.
    """
    with open_decompressed(source) as stream:
        # stream_detect=False: fastwarc must not decompress by itself, which would bypass the checks of the stream.
        records = ArchiveIterator(stream, parse_http=False, stream_detect=False)
        for number, record in enumerate(records, start=1):
            body = _checked_body(record, f"Record {number} of {source.uri}")
            if record.record_type == WarcRecordType.conversion:
                yield RawDocument((body.decode(errors="replace"),), record.stream_pos)


def _checked_body(record: WarcRecord, where: str) -> bytes:
    length = record.headers.get("Content-Length") or ""
    if not re.fullmatch("[0-9]{1,18}", length):
        raise BitcipherError(
            f"{where} has no valid Content-Length: the file is truncated or damaged. Download it again."
        )
    body = record.reader.read()
    if len(body) != int(length):
        raise BitcipherError(
            f"{where} has {len(body)} bytes instead of {length}: the file is truncated. Download it again."
        )
    if NEXT_RECORD.search(body):
        raise BitcipherError(
            f"{where} has a wrong Content-Length, {length}, which includes the next record. Download the file again."
        )
    return body
