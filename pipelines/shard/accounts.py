"""Accounts: what became of each record of the sources."""

from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import Field

from bitcipher.files.records import FROM_LIST, Count, Record, Strings
from pipelines.ingest.record_counts import TEXTLESS

# Number of hosts that the accounts list, by number of documents.
HOSTS = 100
# Number of examples of each reason.
EXAMPLES = 3
EXAMPLE_CHARACTERS = 400

Counts = dict[str, Count]


class Example(Record):
    """A dropped document."""

    digest: str
    """Digest of its text. The examples with the smallest digests are kept, which does not depend on workers."""
    url: str
    excerpt: str
    """Beginning of its text."""


Examples = Annotated[tuple[Example, ...], FROM_LIST]


class Accounts(Record):
    """Numbers of records of some sources, by what became of them."""

    records: Count = 0
    kept: Count = 0
    dropped: Counts = Field(default_factory=dict)
    """Dropped documents by reason."""
    skipped: Counts = Field(default_factory=dict)
    """Records that are not documents, such as images, by reason."""
    quarantined: Counts = Field(default_factory=dict)
    """Bad records by reason."""
    changed: Counts = Field(default_factory=dict)
    """Documents whose text a rule changed, by rule."""
    decisions: Counts = Field(default_factory=dict)
    """Decisions of the readers by description, such as "file in cp1252 (guessed)"."""
    textless: Strings = ()
    """URIs of the first sources that have records, but no text, in alphabetical order."""
    without_host: Count = 0
    """Documents without a URL, or with one that names no host."""
    replacements: Count = 0
    """Number of U+FFFD characters in place of bytes that cannot be decoded."""
    words: Count = 0
    """Number of words of the kept documents, split at white space."""
    text_bytes: Count = 0
    """Bytes of UTF-8 text of the kept documents."""
    languages: Counts = Field(default_factory=dict)
    """Kept documents by language; the language of some is unknown, an empty string."""
    hosts: Counts = Field(default_factory=dict)
    """Kept documents of the most frequent hosts. A sum can be too low for a host that is not among the most frequent of
    each task."""
    examples: dict[str, Examples] = Field(default_factory=dict)
    """Examples of dropped documents by reason."""

    def check(self, owner: str) -> None:
        """Check that each record is counted exactly once."""
        parts = self.kept + sum(map(_total, (self.dropped, self.skipped, self.quarantined)))
        if self.records != parts:  # a mistake in this package, not of the user
            raise AssertionError(f"{owner}: {self.records} records were read, and {parts} are accounted for")


def sum_accounts(parts: Iterable[Accounts]) -> Accounts:
    """Return the sums of the accounts. Counts are sorted from the most to the least frequent."""
    totals: dict[str, Any] = {}
    examples: dict[str, list[Example]] = {}
    textless: set[str] = set()
    for part in parts:
        for name in Accounts.model_fields:
            value = getattr(part, name)
            if name == "textless":
                textless.update(value)
            elif name == "examples":
                for reason, found in value.items():
                    examples.setdefault(reason, []).extend(found)
            elif isinstance(value, dict):
                totals.setdefault(name, Counter()).update(value)
            else:
                totals[name] = totals.get(name, 0) + value
    sorted_counts = {
        name: most_frequent(value, HOSTS if name == "hosts" else None) if isinstance(value, Counter) else value
        for name, value in totals.items()
    }
    return Accounts(
        **sorted_counts,
        textless=tuple(sorted(textless)[:TEXTLESS]),
        examples={reason: first_examples(examples[reason]) for reason in sorted(examples)},
    )


def most_frequent(counts: dict[str, int], number: int | None = None) -> dict[str, int]:
    """Return the highest counts in descending order, and equal counts in alphabetical order."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:number])


def first_examples(examples: Iterable[Example]) -> tuple[Example, ...]:
    """Return the examples with the smallest digests."""
    return tuple(sorted(examples, key=lambda example: (example.digest, example.url))[:EXAMPLES])


def _total(counts: dict[str, int]) -> int:
    return sum(counts.values())
