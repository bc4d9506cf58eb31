"""Cleaning of one record of a source."""

from collections.abc import Sequence
from dataclasses import dataclass

from pipelines.clean.base import CleaningRule, Drop
from pipelines.clean.document import Document
from pipelines.clean.registry import clean
from pipelines.ingest.raw_documents import RawDocument

# Reason to drop documents without text.
EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class CleanedRecord:
    """A record of a source, after cleaning."""

    offset: int
    """Position in the source."""
    document: Document
    """The cleaned document; the original document if it is dropped."""
    dropped: str | None
    """Reason to drop the document, or None."""
    changed: tuple[str, ...]
    """Names of the rules that changed the text."""


def clean_record(raw: RawDocument, text: str, rules: Sequence[CleaningRule]) -> CleanedRecord:
    """Apply rules to a record with its whole text. Call `load_rules` first."""
    document = Document(text, raw.url, raw.date, raw.language)
    if not document.text or document.text.isspace():
        return CleanedRecord(raw.offset, document, EMPTY, ())
    cleaned = clean(document, rules)
    changed = tuple(rules[position].rule for position in cleaned.changed_by)
    if isinstance(cleaned.outcome, Drop):
        return CleanedRecord(raw.offset, document, cleaned.outcome.reason, changed)
    return CleanedRecord(raw.offset, cleaned.outcome, None, changed)
