"""Readers: from a source to its documents, one module a format.

A document is one text, an item of the corpus that context windows never leave. Every module has a function
`read(source, options)` that yields the documents of one source as they stand there, each as the strings that make
it up: one, or several one behind another where it need not be held as a whole.
"""

from collections.abc import Iterator
from importlib import import_module

from pipelines.ingest.document_chunks import DocumentChunk, cut
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.sources import Source

# Names, so that a reader and its library are loaded when a source needs them.
READERS = {
    "text": "pipelines.ingest.readers.text",
    "jsonl": "pipelines.ingest.readers.jsonl",
    "parquet": "pipelines.ingest.readers.parquet",
    "wet": "pipelines.ingest.readers.wet",
}


def read_chunks(source: Source, options: ReadOptions) -> Iterator[DocumentChunk]:
    """The documents of one source, in order and in pieces; those that are empty or only white space are left out.

    Bytes that are not UTF-8 become U+FFFD, and a byte order mark at the start of a file is left out. Memory
    holds one piece of a text file, a line of JSON, a record, or a batch of Parquet rows at a time.

    Raises:
        BitcipherError: if the source is missing, unreadable, cut short, damaged or not in its format.
    """
    if source.size == 0:
        return
    reader = import_module(READERS[source.format])
    for document in reader.read(source, options):
        begun = False
        for piece in cut(document):
            if begun or piece.continues or (piece.text and not piece.text.isspace()):
                yield piece
            begun = piece.continues
