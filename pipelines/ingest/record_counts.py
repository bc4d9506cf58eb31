"""Counts of the records of sources that are not documents, for manifests and summaries."""

from collections import Counter
from collections.abc import Iterable

from pydantic import Field

from bitcipher.files.records import Count, Record, Strings

# Number of sources without text to name.
TEXTLESS = 5


class RecordCounts(Record):
    """Numbers of records that were left out of one or more sources, and of characters that could not be decoded."""

    bad: dict[str, Count] = Field(default_factory=dict)
    """Number of bad records by reason."""
    skipped: dict[str, Count] = Field(default_factory=dict)
    """Number of records that are valid, but not documents, by reason."""
    replacements: Count = 0
    """Number of U+FFFD in the documents."""
    decisions: dict[str, Count] = Field(default_factory=dict)
    """Number of decisions of the readers by description, such as "file in cp1252 (guessed)"."""
    textless: Strings = ()
    """URIs of the first `TEXTLESS` sources that have records, but no text, in alphabetical order."""
    example: str | None = None
    """Sentence about the first bad record, which names its source and position; None without bad records."""


def sum_record_counts(parts: Iterable[RecordCounts]) -> RecordCounts:
    """Return the sums of the counts. The example is that of the first part that has one."""
    bad: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    decisions: Counter[str] = Counter()
    textless: set[str] = set()
    replacements, example = 0, None
    for part in parts:
        bad.update(part.bad)
        skipped.update(part.skipped)
        decisions.update(part.decisions)
        textless.update(part.textless)
        replacements += part.replacements
        example = example or part.example
    return RecordCounts(
        bad=dict(bad),
        skipped=dict(skipped),
        replacements=replacements,
        decisions=dict(decisions),
        textless=tuple(sorted(textless)[:TEXTLESS]),
        example=example,
    )
