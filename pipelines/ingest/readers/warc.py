"""Reader for WARC files: one document per web page, text file or `conversion` record."""

from collections.abc import Iterator

from pipelines.ingest.raw_documents import ReadRecord
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.readers.archive_records import WARC, iter_records
from pipelines.ingest.readers.web_documents import read_documents
from pipelines.ingest.sources import Source


def read(source: Source, options: ReadOptions) -> Iterator[ReadRecord]:
    """Yield the documents of the records of a WARC file."""
    return read_documents(iter_records(source, options, WARC), source, options)
