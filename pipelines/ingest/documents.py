"""Whole documents of a source, for what looks at all of a document at once."""

from collections.abc import Iterator

from pipelines.ingest.readers import ReadOptions, read_chunks
from pipelines.ingest.sources import Source


def documents_of(source: Source, options: ReadOptions) -> Iterator[str]:
    """The documents of a source, one after another; those that are empty are left out.

    Raises:
        BitcipherError: if the source is missing, unreadable, damaged or not in its format.
    """
    pieces: list[str] = []
    for piece in read_chunks(source, options):
        pieces.append(piece.text)
        if not piece.continues:
            yield "".join(pieces)
            pieces = []
