"""Reader for ARC files, the format before WARC: one document per web page or text file."""

from collections.abc import Iterator

from pipelines.ingest.raw_documents import BadRecord, ReadRecord
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.readers.archive_records import ARC, ArchiveRecord, iter_records
from pipelines.ingest.readers.web_documents import read_documents
from pipelines.ingest.sources import Source


def read(source: Source, options: ReadOptions) -> Iterator[ReadRecord]:
    """Yield the documents of the records of an ARC file.

    The line before each body becomes the header of a WARC record, which fastwarc can parse.
    """
    records = iter_records(source, options, ARC)
    converted = (record if isinstance(record, BadRecord) else _convert(record) for record in records)
    return read_documents(converted, source, options)


def _convert(record: ArchiveRecord) -> ArchiveRecord:
    url, date, media_type = ARC.start.match(record.header).groups()  # pyright: ignore[reportOptionalMemberAccess]
    scheme = url.partition(b":")[0].lower()
    if scheme in (b"http", b"https"):
        record_type, media_type = b"response", b"application/http; msgtype=response"
    else:
        record_type = b"warcinfo" if scheme == b"filedesc" else b"resource"
    year, *rest = date[:4], *(date[at : at + 2] or b"00" for at in range(4, 14, 2))
    header = (
        b"WARC/1.0\r\nWARC-Type: %s\r\nWARC-Target-URI: %s\r\nWARC-Date: %s-%s-%sT%s:%s:%sZ\r\n"
        b"Content-Type: %s\r\nContent-Length: %d\r\n\r\n"
    )
    values = record_type, url, year, *rest, media_type, len(record.body)
    return record._replace(header=header % values)
