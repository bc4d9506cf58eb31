"""The stage that filters a source: reads its documents, and writes what is kept of them and their twin."""

import io
from collections.abc import Iterator
from contextlib import ExitStack
from typing import IO, Any

import orjson
from isal import igzip

from bitcipher import storage
from bitcipher.word_filter import read_words
from pipelines.filter.control_sample import ControlSample
from pipelines.filter.filtering import DocumentFilter
from pipelines.filter.lexicon import Lexicon
from pipelines.filter.options import FilterOptions
from pipelines.filter.splits import PARTS
from pipelines.ingest.documents import documents_of
from pipelines.ingest.sources import Source
from pipelines.runtime.runtime import Row
from pipelines.store.ledger import Ledger

CONSTRAINED, UNCONSTRAINED = "constrained", "unconstrained"
VOCABULARY = "vocabulary.txt"

# Unknown words that are told of a source: what is told of all sources is the sum of these.
TOLD_OF_SOURCE = 1_000

# Bytes that are compressed at a time.
_BUFFER_BYTES = 1 << 18


class FilterStage:
    """Writes the files of a source, and then enters its counts in the ledger.

    Args:
        out: the folder of the language, which has the vocabulary.
        ledger: where sources that are done are written down.
        options: how documents are cut, and what is kept.
    """

    def __init__(self, out: str, ledger: str, options: FilterOptions):
        self._out = out
        self._ledger = Ledger(ledger)
        self._options = options
        self._lexicon = Lexicon(read_words(storage.join(out, VOCABULARY)))

    def __call__(self, row: Row) -> Iterator[Row]:
        """From a source and its name in the folder to its entry: counts, and the most frequent unknown words."""
        source, name = Source(**row["source"]), row["id"]
        keeper, twin = DocumentFilter(self._lexicon, self._options), ControlSample(self._options, source.sha256)
        counts = keeper.counts
        counts[CONSTRAINED] = self._write_constrained(name, source, keeper, twin)
        if self._options.unconstrained:
            counts[UNCONSTRAINED] = self._write_unconstrained(name, source, twin, counts[CONSTRAINED])
        entry = {
            "name": name,
            "uri": source.uri,
            "sha256": source.sha256,
            "counts": counts,
            "unknown_words": keeper.most_frequent_unknown(TOLD_OF_SOURCE),
        }
        yield self._ledger.record(done_key(name), entry)

    def _write_constrained(
        self, name: str, source: Source, keeper: DocumentFilter, twin: ControlSample
    ) -> dict[str, int]:
        with _FilesOfParts(self._out, CONSTRAINED, name) as files:
            for document in documents_of(source, self._options):
                if self._options.unconstrained:
                    twin.note(document)
                for kept in keeper.keep(document):
                    files.write(kept.part, {"text": kept.text, "level": kept.level})
            for kept in keeper.finish():
                files.write(kept.part, {"text": kept.text, "level": kept.level})
        return files.written

    def _write_unconstrained(
        self, name: str, source: Source, twin: ControlSample, wanted: dict[str, int]
    ) -> dict[str, int]:
        with _FilesOfParts(self._out, UNCONSTRAINED, name) as files:
            if any(wanted.values()):
                for part, text in twin.draw(documents_of(source, self._options), wanted):
                    files.write(part, {"text": text})
        return files.written | {"missing": sum(wanted.values()) - sum(files.written.values())}


def done_key(name: str) -> str:
    """What the ledger calls a source that is done."""
    return f"filter/{name}"


class _FilesOfParts:
    """The file of each part of a source: JSON lines, compressed to the same bytes each time."""

    def __init__(self, out: str, folder: str, name: str):
        self._uris = {part: storage.join(out, folder, f"{part}-{name}.jsonl.gz") for part in PARTS}
        self._stack = ExitStack()
        self._streams: dict[str, IO[bytes]] = {}
        self.written = dict.fromkeys(PARTS, 0)

    def __enter__(self) -> "_FilesOfParts":
        with ExitStack() as stack:
            for part, uri in self._uris.items():
                stream = stack.enter_context(storage.writing(uri))
                # Neither name nor time in the header.
                packed = stack.enter_context(igzip.IGzipFile("", "wb", fileobj=stream, mtime=0))
                self._streams[part] = stack.enter_context(io.BufferedWriter(packed, _BUFFER_BYTES))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *exception: Any) -> None:
        self._stack.__exit__(*exception)

    def write(self, part: str, record: dict[str, str]) -> None:
        self._streams[part].write(orjson.dumps(record) + b"\n")
        self.written[part] += 1
