"""Whole documents of sources, as models are trained on them."""

from collections.abc import Iterator, Sequence

from pipelines.readers import ReadOptions, read_pieces
from pipelines.sources import Source


def documents_of(sources: Sequence[Source], options: ReadOptions) -> Iterator[str]:
    """The documents of sources, one after another; those that are empty are left out.

    Raises:
        BitcipherError: if a source is missing, unreadable, damaged or not in its format.
    """
    for source in sources:
        pieces: list[str] = []
        for piece in read_pieces(source, options):
            pieces.append(piece.text)
            if not piece.continues:
                yield "".join(pieces)
                pieces = []
