"""Documents, skipped records, bad records and decisions, as the readers of sources yield them."""

from collections.abc import Iterable
from typing import NamedTuple

import pyarrow as pa

# Maximum number of characters of an excerpt.
EXCERPT_CHARACTERS = 200


class RawDocument(NamedTuple):
    """Document of a source, before any cleaning."""

    strings: Iterable[str]
    """The text, in one or more strings, so that a long document need not fit in memory."""
    offset: int
    """Position in the source: the byte offset of a record of an archive, else the number of the line or row, from 1.

    The byte offset is that of the gzip member in which the record begins, as in CommonCrawl's index, so all records in
    one member have the same. In other files it is the position of the record in the decompressed bytes."""
    url: str = ""
    date: str = ""
    """Date and time as the source has it, empty if it has none."""
    language: str = ""
    """Language as the source has it, empty if it has none."""


class LineBatch(NamedTuple):
    """Documents of consecutive lines of plain text."""

    texts: pa.LargeStringArray
    """The documents with text."""
    documents: int
    """Number of documents, those without text included."""
    replacements: int
    """Number of U+FFFD in the documents."""


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


class SkippedRecord(NamedTuple):
    """Record of an archive that is valid, but not a document."""

    offset: int
    """Position in the source, as in `RawDocument`."""
    reason: str
    """Short reason, for counts, such as "status 404"."""


class Decision(NamedTuple):
    """Decision of a reader where a source does not say how it is read, or says otherwise. It is no record."""

    description: str
    """Short noun phrase, for counts, such as "file in cp1252 (guessed)"."""


ReadRecord = RawDocument | SkippedRecord | BadRecord | Decision


def escape_excerpt(content: bytes | str) -> str:
    """Return the beginning of a record with all characters but printable ASCII escaped."""
    if isinstance(content, bytes):
        content = content[:EXCERPT_CHARACTERS].decode("latin-1")
    escaped = content[:EXCERPT_CHARACTERS].encode("unicode_escape").decode("ascii")
    return escaped[:EXCERPT_CHARACTERS]
