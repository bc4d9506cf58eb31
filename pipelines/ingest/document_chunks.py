"""Document chunks: parts of long documents, of bounded size.

Documents are split at white space where the split does not change the tokens: preferably at the end of a line, else
between words of letters. Windows and passages continue across the split (see `pipelines.count.count_stage`).
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

# Maximum number of characters of a chunk: small compared with a count batch, and more than almost all documents have.
CHUNK_CHARACTERS = 1 << 20

# Characters to split before, in order of preference: a line feed, a space between letters, any white space. A space
# between letters is safe, because spaCy's special cases cross a space only next to punctuation or digits.
_BOUNDARIES = tuple(re.compile(pattern) for pattern in (r"\n", r"(?<=[^\W\d_]) (?=[^\W\d_])", r"\s"))


class DocumentChunk(NamedTuple):
    """Part of the text of a document."""

    text: str
    continues: bool
    """Whether the next chunk belongs to the same document."""


def split_text(text: str) -> Iterable[DocumentChunk]:
    """Return the chunks of one document that is one string; none if it has no text."""
    if len(text) > CHUNK_CHARACTERS:
        return split_document([text])
    return (DocumentChunk(text, False),) if text and not text.isspace() else ()


def split_document(strings: Iterable[str], limit: int = CHUNK_CHARACTERS) -> Iterator[DocumentChunk]:
    """Yield the chunks of one document.

    Args:
        strings: the text of the document, in one or more strings.
        limit: maximum number of characters of a chunk. All chunks but the last have at least `limit / 2` characters, if
            there is white space between `limit / 2` and `limit`. Text without white space is not split.

    >>> [chunk.text for chunk in split_document(["The cat saw", " the dog."], limit=12)]
    ['The cat', ' saw the', ' dog.']
    """
    rest = ""
    searched = 1  # no white space is between the first character of the rest and this position
    for string in strings:
        # In steps of `limit`, because each split copies the rest.
        for start in range(0, len(string), limit):
            rest += string[start : start + limit]
            while len(rest) > limit:
                position = _split_position(rest, limit, searched)
                if not position:
                    searched = len(rest)
                    break
                yield DocumentChunk(rest[:position], True)
                rest = rest[position:]
                searched = 1
    yield DocumentChunk(rest, False)


def _split_position(text: str, limit: int, searched: int) -> int:
    """Return the position to split at, or 0 if there is no white space from the position `searched` on."""
    for pattern in _BOUNDARIES:
        for start, stop in ((limit // 2, limit), (limit, len(text)), (1, limit // 2)):
            positions = [match.start() for match in pattern.finditer(text, max(start, searched), stop)]
            if positions:
                return positions[-1] if stop == limit else positions[0]
    return 0
