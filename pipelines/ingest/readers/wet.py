"""Reader for WET files, the plain text of CommonCrawl's pages: one document per record of type `conversion`."""

from collections.abc import Iterator

from fastwarc.warc import WarcRecordType

from pipelines.ingest.raw_documents import ReadRecord
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.readers.archive_records import WARC, iter_records
from pipelines.ingest.readers.web_documents import read_documents
from pipelines.ingest.sources import Source


def read(source: Source, options: ReadOptions) -> Iterator[ReadRecord]:
    """Yield the documents of a WET file, a WARC file of `conversion` records. Records of other types are skipped."""
    records = iter_records(source, options, WARC)
    return read_documents(records, source, options, [WarcRecordType.conversion])
