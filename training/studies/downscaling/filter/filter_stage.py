"""Filter stage: reads the documents of a source, and writes the kept spans and the control sample."""

import io
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import IO, Any

import orjson
from isal import igzip

from bitcipher.files import storage
from pipelines.clean.word_filter import read_words
from pipelines.ingest.documents import read_documents
from pipelines.ingest.quarantine import Quarantine
from pipelines.ingest.sources import Source
from pipelines.store.ledger import EntryKind, Ledger
from training.studies.downscaling.filter.control_sample import ControlSample
from training.studies.downscaling.filter.document_filter import DocumentFilter
from training.studies.downscaling.filter.document_splits import PARTS
from training.studies.downscaling.filter.filter_manifest import FilterCounts, SourceEntry
from training.studies.downscaling.filter.lexicon import Lexicon
from training.studies.downscaling.filter.options import FilterOptions, Level

CONSTRAINED, UNCONSTRAINED = "constrained", "unconstrained"
VOCABULARY = "vocabulary.txt"

FILTERED_SOURCES = EntryKind("filter", SourceEntry)

# Maximum number of unknown words to record per source.
UNKNOWN_WORDS_PER_SOURCE = 1_000

# Bytes per call of the compressor.
_BUFFER_BYTES = 1 << 18


@dataclass(frozen=True)
class FilterInput:
    """A source to filter."""

    id: str
    """Number of the source, part of the names of its files."""
    source: Source
    level: Level
    """Level of the options for this source."""


class FilterStage:
    """Stage that filters a source: writes its files, and records its counts in the ledger.

    Args:
        out: folder of the filtered corpus, which contains the vocabulary.
        ledger: URI of the ledger.
        options: options of the filter.
    """

    def __init__(self, out: str, ledger: str, options: FilterOptions):
        self._out = out
        self._ledger = Ledger(ledger)
        self._options = options
        self._lexicon = Lexicon(read_words(storage.join(out, VOCABULARY)))

    def __call__(self, item: FilterInput) -> Iterator[SourceEntry]:
        """Yield the counts of a source."""
        source = item.source
        document_filter = DocumentFilter(self._lexicon, self._options.copy_with(level=item.level))
        control = ControlSample(self._options, source.sha256)
        counts = document_filter.counts
        quarantine = Quarantine(source.uri, self._options.max_bad_share)
        counts[CONSTRAINED] = self._write_constrained(item, quarantine, document_filter, control)
        if self._options.unconstrained:
            counts[UNCONSTRAINED] = self._write_unconstrained(item, control, counts[CONSTRAINED])
        entry = SourceEntry(
            name=item.id,
            uri=source.uri,
            sha256=source.sha256,
            counts=FilterCounts(**counts),
            records=quarantine.counts,
            unknown_words=document_filter.most_frequent_unknown(UNKNOWN_WORDS_PER_SOURCE),
        )
        yield self._ledger.record(FILTERED_SOURCES, item.id, entry)

    def _write_constrained(
        self, item: FilterInput, quarantine: Quarantine, document_filter: DocumentFilter, control: ControlSample
    ) -> dict[str, int]:
        with _PartFiles(self._out, CONSTRAINED, item.id) as files:
            for document in read_documents(item.source, self._options, quarantine):
                if self._options.unconstrained:
                    control.count(document)
                for span in document_filter.filter(document):
                    files.write(span.part, {"text": span.text, "level": span.level})
            for span in document_filter.finish():
                files.write(span.part, {"text": span.text, "level": span.level})
        return files.span_counts

    def _write_unconstrained(self, item: FilterInput, control: ControlSample, sizes: dict[str, int]) -> dict[str, int]:
        with _PartFiles(self._out, UNCONSTRAINED, item.id) as files:
            if any(sizes.values()):
                for part, text in control.draw(read_documents(item.source, self._options), sizes):
                    files.write(part, {"text": text})
        return files.span_counts | {"missing": sum(sizes.values()) - sum(files.span_counts.values())}


class _PartFiles:
    """Writer of the spans of a source: one gzipped file of JSON lines per part, with reproducible bytes."""

    def __init__(self, out: str, folder: str, name: str):
        self._uris = {part: storage.join(out, folder, f"{part}-{name}.jsonl.gz") for part in PARTS}
        self._stack = ExitStack()
        self._streams: dict[str, IO[bytes]] = {}
        self.span_counts: dict[str, int] = dict.fromkeys(PARTS, 0)

    def __enter__(self) -> "_PartFiles":
        with ExitStack() as stack:
            for part, uri in self._uris.items():
                stream = stack.enter_context(storage.writing(uri))
                # The header has no name and no time, because they would differ between runs.
                packed = stack.enter_context(igzip.IGzipFile("", "wb", fileobj=stream, mtime=0))
                self._streams[part] = stack.enter_context(io.BufferedWriter(packed, _BUFFER_BYTES))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *exception: Any) -> None:
        self._stack.__exit__(*exception)

    def write(self, part: str, record: dict[str, str]) -> None:
        self._streams[part].write(orjson.dumps(record) + b"\n")
        self.span_counts[part] += 1
