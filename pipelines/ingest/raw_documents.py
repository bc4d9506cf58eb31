"""Documents and bad records, as the readers of sources yield them."""

from collections.abc import Iterable
from typing import NamedTuple

# Fields or columns with the URL, the date and the language of a document, in C4 and in document shards.
DETAIL_FIELDS = (("url",), ("timestamp", "date"), ("language",))

# Maximum number of characters of an excerpt.
EXCERPT_CHARACTERS = 200


class RawDocument(NamedTuple):
    """Document of a source, before any cleaning."""

    strings: Iterable[str]
    """The text, in one or more strings, so that a long document need not fit in memory."""
    offset: int
    """Position in the source: the byte offset of a record of an archive, else the number of the line or row, from 1."""
    url: str = ""
    date: str = ""
    """Date and time as the source has it, empty if it has none."""
    language: str = ""
    """Language as the source has it, empty if it has none."""


class BadRecord(NamedTuple):
    """Part of a source that is damaged, too large, or not text."""

    offset: int
    """Position in the source, as in `RawDocument`."""
    reason: str
    """Short reason, for counts, such as "not JSON"."""
    message: str
    """Sentence that names the source and the position."""
    excerpt: str = ""
    """Beginning of the record, with all characters but printable ASCII escaped."""
    records: int = 1
    """Number of records that are lost."""


def escape_excerpt(content: bytes | str) -> str:
    """Return the beginning of a record with all characters but printable ASCII escaped."""
    if isinstance(content, bytes):
        content = content[:EXCERPT_CHARACTERS].decode("latin-1")
    escaped = content[:EXCERPT_CHARACTERS].encode("unicode_escape").decode("ascii")
    return escaped[:EXCERPT_CHARACTERS]
