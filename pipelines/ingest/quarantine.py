"""Quarantine: the bad records of a source, and the check that they are few."""

from collections import Counter
from collections.abc import Iterable, Iterator

from bitcipher.errors import BitcipherError
from pipelines.ingest.raw_documents import BadRecord, RawDocument

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
        self.reasons: Counter[str] = Counter()
        """Number of bad records by reason."""
        self.kept: list[BadRecord] = []
        """The first bad records."""

    @property
    def bad(self) -> int:
        """Number of bad records."""
        return self.reasons.total()

    def separate(self, records: Iterable[RawDocument | BadRecord]) -> Iterator[RawDocument]:
        """Yield the documents, and keep the bad records.

        Raises:
            BitcipherError: if the share of bad records is above the maximum.
        """
        for record in records:
            if isinstance(record, RawDocument):
                self.read += 1
                yield record
            else:
                self._add(record)
                if self.bad >= EARLY_CHECK:
                    self._check()
        self._check()

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
