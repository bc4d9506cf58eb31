"""Pieces of documents: a long document goes through the pipeline a piece at a time, so none is too long.

Pieces are cut at white space where no tokenizer looks across: at a line's end if there is one, else between words
of letters. Windows and documents' counts go on over the cut (see `pipelines.count.count_batches`).
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

# Characters of a piece: small beside a slice of text that is counted at once, and rarely reached by a document.
PIECE_CHARACTERS = 1 << 20

# Positions to cut before, in order of preference. spaCy's special cases cross a space only next to marks or digits.
_PLACES = tuple(re.compile(pattern) for pattern in (r"\n", r"(?<=[^\W\d_]) (?=[^\W\d_])", r"\s"))


class DocumentChunk(NamedTuple):
    """A run of a document's text."""

    text: str
    continues: bool
    """Whether the next piece belongs to the same document."""


def cut(chunks: Iterable[str], limit: int = PIECE_CHARACTERS) -> Iterator[DocumentChunk]:
    """The pieces of one document.

    Args:
        chunks: its text, in one or more strings, one behind another.
        limit: characters above which it is cut, in pieces of half as many or more; a run without white space stays
            whole, however long.

    >>> [piece.text for piece in cut(["The cat saw", " the dog."], limit=12)]
    ['The cat', ' saw the', ' dog.']
    """
    rest = ""
    for chunk in chunks:
        # Bit by bit, for each cut copies what is left.
        for start in range(0, len(chunk), limit):
            rest += chunk[start : start + limit]
            while len(rest) > limit and (place := _place(rest, limit)):
                yield DocumentChunk(rest[:place], True)
                rest = rest[place:]
    yield DocumentChunk(rest, False)


def _place(text: str, limit: int) -> int:
    """Where to cut, or 0 for nowhere."""
    for pattern in _PLACES:
        for start, stop in ((limit // 2, limit), (limit, len(text)), (1, limit // 2)):
            places = [match.start() for match in pattern.finditer(text, start, stop)]
            if places:
                return places[-1] if stop == limit else places[0]
    return 0
