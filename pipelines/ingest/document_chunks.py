"""Document chunks: long documents pass through the pipeline in pieces of bounded size.

Documents are split at white space that no tokenizer reads across: at the end of a line if there is one, else between
words of letters. Windows and passages continue across the split (see `pipelines.count.count_batches`).
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

# Characters of a chunk: small compared with a count batch, and larger than almost every document.
CHUNK_CHARACTERS = 1 << 20

# Positions to split before, in order of preference. spaCy's special cases cross a space only next to punctuation or
# digits.
_BOUNDARIES = tuple(re.compile(pattern) for pattern in (r"\n", r"(?<=[^\W\d_]) (?=[^\W\d_])", r"\s"))


class DocumentChunk(NamedTuple):
    """Part of the text of a document."""

    text: str
    continues: bool
    """Whether the next chunk belongs to the same document."""


def split_document(strings: Iterable[str], limit: int = CHUNK_CHARACTERS) -> Iterator[DocumentChunk]:
    """Yield the chunks of one document.

    Args:
        strings: the text of the document, in one or more strings.
        limit: maximum number of characters of a chunk. Chunks have at least half as many. Text without white space
            stays in one chunk, whatever its length.

    >>> [chunk.text for chunk in split_document(["The cat saw", " the dog."], limit=12)]
    ['The cat', ' saw the', ' dog.']
    """
    rest = ""
    for string in strings:
        # In steps of `limit`, because each split copies the rest.
        for start in range(0, len(string), limit):
            rest += string[start : start + limit]
            while len(rest) > limit and (position := _split_position(rest, limit)):
                yield DocumentChunk(rest[:position], True)
                rest = rest[position:]
    yield DocumentChunk(rest, False)


def _split_position(text: str, limit: int) -> int:
    """Return where to split, or 0 if there is no white space."""
    for pattern in _BOUNDARIES:
        for start, stop in ((limit // 2, limit), (limit, len(text)), (1, limit // 2)):
            positions = [match.start() for match in pattern.finditer(text, start, stop)]
            if positions:
                return positions[-1] if stop == limit else positions[0]
    return 0
