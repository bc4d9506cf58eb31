"""Readers of the documents of a source, one module per format.

Each module has a function `read(source, options)` that yields the documents and the bad records of a source in order.
"""

from collections.abc import Iterator
from importlib import import_module

from pipelines.ingest.document_chunks import DocumentChunk, split_document, split_text
from pipelines.ingest.quarantine import Quarantine
from pipelines.ingest.raw_documents import RawDocument, ReadRecord
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.sources import Source


def read_source(source: Source, options: ReadOptions, quarantine: Quarantine | None = None) -> Iterator[RawDocument]:
    """Yield the documents of a source in order, those without text included.

    At any time, memory holds one megabyte of a text file, one line, one record of an archive, or one batch of Parquet
    rows.

    Args:
        source: the source.
        options: options of the readers.
        quarantine: collects the bad records.

    Raises:
        BitcipherError: if the source is missing, unreadable, truncated or not in its format, or if it has too many bad
            records.
    """
    if source.size == 0:
        return
    # Imported by name, so that the library of a format is loaded only for sources of this format.
    reader = import_module(f"{__name__}.{source.format}")
    quarantine = quarantine or Quarantine(source.uri, options.max_bad_share)
    records: Iterator[ReadRecord] = reader.read(source, options)
    yield from quarantine.separate(records)


def read_chunks(source: Source, options: ReadOptions, quarantine: Quarantine | None = None) -> Iterator[DocumentChunk]:
    """Yield the chunks of the documents of a source in order. Documents without text are skipped.

    Arguments and errors are those of `read_source`.
    """
    for document in read_source(source, options, quarantine):
        if isinstance(document.strings, tuple) and len(document.strings) == 1:
            yield from split_text(document.strings[0])
            continue
        has_begun = False
        for chunk in split_document(document.strings):
            if has_begun or chunk.continues or (chunk.text and not chunk.text.isspace()):
                yield chunk
            has_begun = chunk.continues
