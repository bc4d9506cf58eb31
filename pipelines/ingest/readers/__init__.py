"""Readers of the documents of a source, one module per format.

Each module has a function `read(source, options)` that yields the documents of a source. A document is an iterable of
strings, so long documents need not fit in memory.
"""

from collections.abc import Iterator
from importlib import import_module

from pipelines.ingest.document_chunks import DocumentChunk, split_document
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.sources import Source


def read_chunks(source: Source, options: ReadOptions) -> Iterator[DocumentChunk]:
    """Yield the chunks of the documents of a source in order. Documents without text are skipped.

    Bytes that are not UTF-8 become U+FFFD, and a byte order mark at the start of a file is skipped. At any time, memory
    holds one chunk of a text file, one line of JSON, one WET record or one batch of Parquet rows.

    Raises:
        BitcipherError: if the source is missing, unreadable, truncated, damaged or not in its format.
    """
    if source.size == 0:
        return
    # Imported by name, so that the library of a format is loaded only for sources of this format.
    reader = import_module(f"{__name__}.{source.format}")
    for document in reader.read(source, options):
        has_begun = False
        for chunk in split_document(document):
            if has_begun or chunk.continues or (chunk.text and not chunk.text.isspace()):
                yield chunk
            has_begun = chunk.continues
