"""Quarantine: the bad records of a source, the check that they are few, and counts of all that is not a document.

Every record is counted once: `read == documents + skipped + bad`.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import overload

from bitcipher.errors import BitcipherError
from pipelines.ingest.raw_documents import BadRecord, Decision, LineBatch, RawDocument, ReadRecord, SkippedRecord
from pipelines.ingest.record_counts import RecordCounts

# Maximum number of bad records that are kept per source. All are counted.
MAX_KEPT = 10_000

# Number of bad records from which the share is checked before the end of the source, so that a large file of another
# format fails early.
EARLY_CHECK = 1_000


class Quarantine:
    """Bad records of one source.

    Args:
        uri: the source.
        max_bad_share: maximum share of bad records.
    """

    def __init__(self, uri: str, max_bad_share: float):
        self._uri = uri
        self._max_bad_share = max_bad_share
        self.read = 0
        """Number of records read, good or bad."""
        self.documents = 0
        """Number of documents, those without text included."""
        self.skip_reasons: Counter[str] = Counter()
        """Number of skipped records by reason, such as "status 404"."""
        self.has_text = False
        """Whether a document has text."""
        self.replacements = 0
        """Number of U+FFFD in the documents: bytes that were not text, when they were read or in an earlier step."""
        self.decisions: Counter[str] = Counter()
        """Number of decisions of the reader by description, such as "page in utf-8 (cp1252 was declared)"."""
        self.reasons: Counter[str] = Counter()
        """Number of bad records by reason."""
        self.kept: list[BadRecord] = []
        """The first bad records."""

    @property
    def skipped(self) -> int:
        """Number of records that are valid, but not documents."""
        return self.skip_reasons.total()

    @property
    def bad(self) -> int:
        """Number of bad records."""
        return self.reasons.total()

    @property
    def counts(self) -> RecordCounts:
        """Counts of the records that are not documents, for manifests."""
        return RecordCounts(
            bad=dict(self.reasons),
            skipped=dict(self.skip_reasons),
            replacements=self.replacements,
            decisions=dict(self.decisions),
            textless=() if self.has_text or not self.read else (self._uri,),
            example=self.kept[0].message if self.kept else None,
        )

    @overload
    def separate(self, records: Iterable[ReadRecord]) -> Iterator[RawDocument]: ...

    @overload
    def separate(self, records: Iterable[ReadRecord | LineBatch]) -> Iterator[RawDocument | LineBatch]: ...

    def separate(self, records: Iterable[ReadRecord | LineBatch]) -> Iterator[RawDocument | LineBatch]:
        """Yield the documents, keep the bad records, and count all records.

        Raises:
            BitcipherError: if the share of bad records is above the maximum.
        """
        for record in records:
            if isinstance(record, RawDocument):
                self.read += 1
                self.documents += 1
                if isinstance(record.strings, tuple):
                    for string in record.strings:
                        self._count(string)
                    yield record
                else:
                    yield record._replace(strings=self._count_in(record.strings))
            elif isinstance(record, LineBatch):
                self.read += record.documents
                self.documents += record.documents
                self.has_text = self.has_text or len(record.texts) > 0
                self.replacements += record.replacements
                yield record
            elif isinstance(record, SkippedRecord):
                self.read += 1
                self.skip_reasons[record.reason] += 1
            elif isinstance(record, Decision):
                self.decisions[record.description] += 1
            else:
                self._add(record)
                if self.bad >= EARLY_CHECK:
                    self._check()
        self._check()

    def _count_in(self, strings: Iterable[str]) -> Iterator[str]:
        for string in strings:
            self._count(string)
            yield string

    def _count(self, string: str) -> None:
        self.has_text = self.has_text or bool(string and not string.isspace())
        self.replacements += _count_replacements(string)

    def _add(self, record: BadRecord) -> None:
        self.read += record.records
        self.reasons[record.reason] += record.records
        if len(self.kept) < MAX_KEPT:
            self.kept.append(record)

    def _check(self) -> None:
        if self.bad > self._max_bad_share * self.read:
            raise BitcipherError(
                f"{self.kept[0].message} In all, {self.bad:,} of {self.read:,} records of {self._uri} are bad, and "
                f"`max_bad_share` is {self._max_bad_share}: correct the file, or raise `max_bad_share`."
            )


def _count_replacements(string: str) -> int:
    return string.count("\ufffd") if "\ufffd" in string else 0  # the search is ten times as fast as the count
