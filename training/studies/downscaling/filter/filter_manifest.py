"""Manifest of a filtered corpus: numbers of kept and dropped spans per source, per folder and in total."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from bitcipher.files.records import FROM_LIST, Count, Record
from pipelines.ingest.record_counts import RecordCounts, sum_record_counts
from pipelines.store.fingerprint import Fingerprint
from training.studies.downscaling.filter.document_filter import most_frequent

FORMAT: Literal["bitcipher-filter/2"] = "bitcipher-filter/2"

# Maximum number of unknown words that the manifest lists for the corpus, each folder and each source.
UNKNOWN_WORDS = 50


class PartCounts(Record):
    """Numbers of documents or spans by part."""

    train: Count
    development: Count
    test: Count

    def total(self) -> int:
        """Return the sum of all parts."""
        return self.train + self.development + self.test


class ControlCounts(PartCounts):
    """Numbers of spans in the control sample by part."""

    missing: Count
    """Number of spans that could not be drawn, because the sources have too few spans."""


class SpanCounts(Record):
    """Counts of spans."""

    examined: Count
    """Number of spans, kept or not."""
    kept: Count
    """Number of spans that are kept."""
    unknown_words: Count
    """Number of spans with a word outside the vocabulary."""
    too_few_words: Count
    """Number of spans in the vocabulary that have too few words."""
    words_kept: Count
    """Number of words in all kept spans."""
    share_kept: float | None = Field(None, ge=0, le=1)
    """Fraction of the examined spans that are kept; None in ledger entries."""


class SentenceCounts(SpanCounts):
    """Counts of sentences; in the inherited fields, a span is a sentence."""

    spans: Count
    """Number of spans that the kept sentences were packed into."""
    words_left_over: Count
    """Number of words in the last spans of sources, which were dropped because they were too short."""


class FilterCounts(Record):
    """Counts of one or more sources."""

    documents: PartCounts
    words: Count
    """Number of words, split at white space."""
    spans: SpanCounts | None = None
    sentences: SentenceCounts | None = None
    constrained: PartCounts
    """Numbers of spans in the filtered corpus."""
    unconstrained: ControlCounts | None = None
    """Numbers of spans in the control sample."""

    @model_serializer(mode="wrap")
    def _leave_out_missing_levels(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: value for name, value in serialize(self).items() if value is not None}

    @property
    def words_in_spans(self) -> int:
        """Number of words in all spans of the filtered corpus. A word in several spans counts several times."""
        spans = self.spans.words_kept if self.spans else 0
        return spans + (self.sentences.words_kept - self.sentences.words_left_over if self.sentences else 0)


class SourceEntry(Record):
    """Ledger entry of a filtered source: its counts, and its most frequent unknown words."""

    name: str
    """Number of the source, part of the names of its files."""
    uri: str
    sha256: str
    """SHA-256 of the stored bytes of the source."""
    counts: FilterCounts
    records: RecordCounts
    """Counts of bad and skipped records."""
    unknown_words: dict[str, Count]


class CountsWithWords(FilterCounts):
    """Counts of a group of sources, with the most frequent unknown words, in descending order."""

    records: RecordCounts
    """Counts of bad and skipped records."""
    unknown_words: dict[str, Count]


class SourceCounts(CountsWithWords):
    """Counts of one source."""

    name: str
    uri: str
    sha256: str


class FilterVocabulary(Record):
    """The vocabulary of a filtered corpus."""

    words: Count
    """Number of words."""
    sha256: str
    """SHA-256 of the vocabulary file."""


class FilterManifest(Record):
    """Manifest of a filtered corpus."""

    format: Literal["bitcipher-filter/2"] = FORMAT
    options: Fingerprint
    """Options, and hashes of the vocabulary and the sources."""
    vocabulary: FilterVocabulary
    total: CountsWithWords
    folders: dict[str, CountsWithWords]
    """Counts by folder of the sources."""
    sources: Annotated[tuple[SourceCounts, ...], FROM_LIST]


def make_manifest(options: Fingerprint, vocabulary: FilterVocabulary, entries: Sequence[SourceEntry]) -> FilterManifest:
    """Return the manifest of filtered sources.

    The counts of unknown words of a folder, and of the corpus, are sums of the counts that the sources recorded.
    """
    folders: dict[str, list[SourceEntry]] = {}
    for entry in entries:
        folders.setdefault(entry.uri.rpartition("/")[0], []).append(entry)
    return FilterManifest(
        options=options,
        vocabulary=vocabulary,
        total=CountsWithWords(**_sum(entries)),
        folders={folder: CountsWithWords(**_sum(group)) for folder, group in folders.items()},
        sources=tuple(
            SourceCounts(name=entry.name, uri=entry.uri, sha256=entry.sha256, **_sum([entry])) for entry in entries
        ),
    )


def _sum(entries: Sequence[SourceEntry]) -> dict[str, Any]:
    counts: dict[str, Any] = {}
    words: Counter[str] = Counter()
    for entry in entries:
        _add(counts, entry.counts.to_dict())
        words.update(entry.unknown_words)
    for level in ("spans", "sentences"):
        if level in counts:
            counts[level]["share_kept"] = counts[level]["kept"] / max(counts[level]["examined"], 1)
    records = sum_record_counts(entry.records for entry in entries)
    return {**counts, "records": records, "unknown_words": most_frequent(words, UNKNOWN_WORDS)}


def _add(total: dict[str, Any], counts: dict[str, Any]) -> None:
    for name, value in counts.items():
        if isinstance(value, dict):
            _add(total.setdefault(name, {}), value)
        elif value is not None:
            total[name] = total.get(name, 0) + value
