"""A job: from a listing of sources to a new version of a build. Building is updating what is empty.

Everything that takes long is written down in the ledger as it is done, so a job that was stopped anywhere goes on with
what is not: shards are known by the content of their sources, merged ranges by what they add up.
"""

import time
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

import pyarrow as pa

from bitcipher import __version__, storage
from bitcipher.cipher import BitCipher
from bitcipher.errors import BitcipherError
from bitcipher.versions import VECTORS, VERSIONS, vectors_of
from bitcipher.vocabulary import Vocabulary
from pipelines.store import layout
from pipelines.merge import words
from pipelines.runtime.memory_budget import MemoryBudget
from pipelines.ingest.source_changes import SourceChanges
from pipelines.runtime.costs import Costs
from pipelines.count.count_stage import CountStage, done_key
from pipelines.build.version_drift import drift_stage, check_drift
from pipelines.embed.embed_counts import StoredCounts, embed_counts
from pipelines.runtime.events import log_event
from pipelines.store.fingerprint import check_same, fingerprint
from pipelines.ingest.content_hash import sha256
from pipelines.store.lease import Lease
from pipelines.store.ledger import Ledger
from pipelines.merge.merge_segments import merge_segments
from pipelines.options import SPECTRAL, BuildOptions
from pipelines.count.count_tasks import CountTask, estimated_text_bytes, plan_counting
from pipelines.runtime.progress import StageProgress
from pipelines.build.publish import collect_garbage, publish
from pipelines.runtime.runtime import Row, Runtime, StageSpec
from pipelines.store.segments import Merge, Segment, next_merges, removals, total_digest
from pipelines.ingest.sources import Source
from pipelines.tokenizers import tokenizer_path

JOB = "job"  # the ledger's entry for the job itself


@dataclass(frozen=True)
class Tasks:
    """What is counted, and what stays of what was."""

    to_count: list[CountTask]
    kept: list[Row]
    """Of the version before: id, sources' digests, and names of shards."""
    sources: list[Source]
    """All sources of the new version, counted once each."""


class BuildJob:
    """Makes a new version, in the order of its methods; the lease must be held all the while.

    Args:
        build: the folder of the build.
        options: how; those of the version before, if there is one.
        base: the manifest of the version before, or None.
        lease: of the build.
        runtime: where stages run.
        progress: where to show how far it is.
    """

    def __init__(
        self,
        build: str,
        options: BuildOptions,
        base: Row | None,
        lease: Lease,
        runtime: Runtime,
        progress: StageProgress,
    ):
        self.build = build
        self.options = options
        self.base = base
        self.lease = lease
        self.runtime = runtime
        self.progress = progress
        self.costs = Costs(runtime.workers)
        self.counted_tokens = 0
        self.version = base["version"] + 1 if base else 1
        self.folder = storage.join(VERSIONS, f"{self.version:06d}-{uuid.uuid4().hex[:8]}")
        self.budget = MemoryBudget(options.memory_mib)
        self._ledgers = Ledger(storage.join(build, layout.LEDGER))

    def begin(self) -> None:
        """Write the job down, or go on with the one that was stopped, if that was made as this one is."""
        now = fingerprint(self.options)
        if self.base:
            advice = "build anew from all sources, under another name"
            check_same(self.base["fingerprint"], now, f"{self.build}", advice)
        record = {
            "id": uuid.uuid4().hex[:8],
            "version": self.version,
            "fingerprint": now,
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        standing = self._ledgers.record(JOB, record)
        advice = "give it the same options to finish it, or drop it by `bitcipher prune --unfinished`"
        check_same(standing["fingerprint"], now, f"The unfinished job in {self.build}", advice)
        self.ledger = ledger_of_job(self.build, standing)

    def plan(self, sources: list[Source], changes: SourceChanges, replace: bool) -> Tasks:
        """Which tasks are to be counted, and which of those that were are kept.

        Args:
            sources: the listing, with digests.
            changes: what became of the sources of the version before.
            replace: leave out the counts of content that is gone, and count what changed.
        """
        known = [Source(**source) for source in self.base["sources"]] if self.base else []
        gone = changes.gone(known) if replace else set()
        tasks = self.base["tasks"] if self.base else []
        kept = [task for task in tasks if not gone & set(task["sources"])]
        counted = {digest for task in kept for digest in task["sources"]}
        # What shared a task with what is gone is counted again.
        wanted = {s.sha256: s for s in (*known, *sources) if s.sha256 not in gone and s.sha256 not in counted}
        if not replace:
            for source in changes.changed:
                wanted.pop(source.sha256, None)
        to_count = plan_counting(sorted(wanted.values(), key=_by_name), self.options.shard_mib << 20)
        by_digest = {s.sha256: s for s in (*known, *sources) if s.sha256 in counted or s.sha256 in wanted}
        return Tasks(to_count, kept, sorted(by_digest.values(), key=_by_name))

    def count(self, tasks: list[CountTask]) -> list[Segment]:
        """Count what the ledger does not have yet; returns the shards of all tasks."""
        stage = StageSpec("count", CountStage, {"build": self.build, "ledger": self.ledger.uri, "options": self._stage_options()})
        before = self.ledger.entries("count/")
        open_tasks = [task for task in tasks if done_key(task) not in before]
        bar = self.progress.begin("count", sum(_text_bytes(task) for task in tasks))
        plan = {"tasks": [task.id for task in tasks], "text_bytes": sum(map(_text_bytes, tasks))}
        self.ledger.record(f"plan/{self.folder.rpartition('/')[2]}", plan)
        self.progress.advance(bar, sum(_text_bytes(task) for task in tasks if task not in open_tasks), "")
        start, tokens, documents = time.perf_counter(), 0, 0
        for shard in self.runtime.stream(stage, [task.to_row() for task in open_tasks]):
            self.costs.add(shard["costs"])
            tokens, documents = tokens + shard["tokens"], documents + shard["documents"]
            rate = tokens / (time.perf_counter() - start)
            note = f"{documents:,} documents, {tokens / 1e6:,.1f} M tokens, {rate / 1e6:.2f} M/s"
            self.progress.advance(bar, shard["text_bytes"], note)
            log_event("counted", shard=shard["name"], tokens=shard["tokens"], costs=shard["costs"])
        self.progress.end(bar)
        self.counted_tokens = tokens
        wanted = {task.id for task in tasks}
        counted = self.ledger.entries("count/")
        if not all(done_key(task) in counted for task in tasks):
            raise BitcipherError(
                f"Another job removed what this one had counted in {self.build}: run the same command again."
            )
        entries = counted.items()
        shards = [
            Segment.from_dict(entry) for key, entry in entries if key.split("/")[1] in wanted and "parts" in entry
        ]
        return sorted(shards, key=lambda shard: shard.name)

    def merge(self, kept: set[str], new: list[Segment]) -> list[Segment]:
        """The segments of the new version: those of the one before without what is gone, and the new shards."""
        before = [Segment.from_dict(segment) for segment in self.base["segments"]] if self.base else []
        shards = {shard["name"]: Segment.from_dict(shard) for shard in self.base["shards"]} if self.base else {}
        gone = {name: shard for name, shard in shards.items() if name not in kept}
        segments, merges = removals(before, gone)
        segments += new
        while merges := merges or next_merges(segments):
            names = {member.name for merge in merges for member in merge.members}
            segments = [segment for segment in segments if segment.name not in names]
            segments += self._merge(merges)
            merges = []
        return sorted(segments, key=lambda segment: segment.name)

    def _merge(self, merges: list[Merge]) -> list[Segment]:
        bar = self.progress.begin("merge", 1)

        def show(row: Row, ranges: int) -> None:
            self.progress.advance(bar, 1 / ranges, f"{row['entries']:,} pairs")
            log_event("merged", segment=row["merge"], part=row["part"], entries=row["entries"], costs=row["costs"])

        return merge_segments(
            {merge.name: merge for merge in merges},
            self.build,
            layout.SEGMENTS,
            storage.join(self.build, layout.WORK, uuid.uuid4().hex),
            self.budget.range_entries,
            self.runtime,
            self.ledger.uri,
            self.costs.add,
            show,
        )

    def choose_vocabulary(self, segments: list[Segment], known: pa.LargeStringArray | None) -> Vocabulary:
        """Write the vocabulary of the new version."""
        bar = self.progress.begin("words", 1)
        with self.costs.measured("words"):
            parts = [[storage.join(self.build, part) for part in segment.parts] for segment in segments]
            merged = words.sum_words(parts)
            passages = sum(segment.total_passages for segment in segments)
            vocabulary = words.choose_vocabulary(merged, passages, self.options, known)
            if self.options.mode != SPECTRAL:
                BitCipher(self.options.bits).active_bits(len(vocabulary))  # too few bits show before the rest
            storage.write_table(storage.join(self.build, self.folder, layout.WORDS), vocabulary.to_table())
        self.progress.advance(bar, 1, f"{len(vocabulary):,} words")
        return vocabulary

    def describe(
        self, tasks: Tasks, shards: list[Segment], segments: list[Segment], vocabulary: Vocabulary, aligned: str | None
    ) -> Row:
        """The manifest, but for its vectors and drift."""
        words_uri = storage.join(self.build, self.folder, layout.WORDS)
        counted = [
            {"id": task.id, "sources": [s.sha256 for s in task.sources], "shards": _shards_of(task.id, shards)}
            for task in tasks.to_count
        ]
        return {
            "format": layout.FORMAT,
            "bitcipher": __version__,
            "version": self.version,
            "folder": self.folder,
            "options": self.options.to_dict(),
            "fingerprint": fingerprint(self.options),
            "aligned": aligned,
            "documents": sum(segment.documents for segment in segments),
            "text_bytes": sum(segment.text_bytes for segment in segments),
            "tokens": sum(segment.tokens for segment in segments),
            "vocabulary": len(vocabulary),
            "oov_tokens": int(vocabulary.counts[vocabulary.oov_rank]),
            "digests": {"words": sha256(words_uri), "counts": total_digest(segments)},
            "sources": [asdict(source) for source in tasks.sources],
            "tasks": [*tasks.kept, *counted],
            "shards": [shard.to_dict() for shard in shards],
            "segments": [segment.to_dict() for segment in segments],
        }

    def embed(self, manifest: Row) -> None:
        """Make the vectors, and note them in the manifest."""
        target = storage.join(self.build, self.folder, VECTORS)
        sizes = embed_counts(
            StoredCounts.of(self.build, manifest),
            self.options.embedding,
            target,
            storage.join(self.build, layout.WORK, uuid.uuid4().hex),
            self.budget,
            self.runtime,
            self.progress,
            self.costs,
        )
        manifest["vectors"] = sizes
        manifest["digests"]["vectors"] = sha256(storage.join(target, "vectors.safetensors"))

    def measure_drift(self, manifest: Row, max_drift: float | None) -> None:
        """Compare with the version before, note it in the manifest, and stop at a surprise."""
        if not self.base:
            return
        before, now = (layout.version_file(self.build, m, VECTORS) for m in (self.base, manifest))
        (drift,) = self.runtime.stream(drift_stage(before), [{"vectors": now}])
        self.costs.add(drift.pop("costs"))
        manifest["drift"] = drift
        check_drift(self.build, drift, max_drift)

    def publish(self, manifest: Row) -> None:
        """Publish the version; then the ledger is of no more use."""
        report = {**self.costs.to_dict(), "tokens": self.counted_tokens}
        storage.write_json(layout.version_file(self.build, manifest, layout.REPORT), report)
        publish(self.build, manifest, self.lease)
        log_event("published", build=self.build, version=self.version, tokens=manifest["tokens"])
        self.finish()

    def finish(self) -> None:
        """Remove the ledger, and files that nothing refers to any more.

        Not earlier: a worker that outlived its driver may still write down in the ledger what it has written.
        """
        # Else this job slept since it was published, and all that is another one's by now.
        if self.lease.is_held():
            self._ledgers.clear()
            collect_garbage(self.build)

    def known_words(self, align: str | None) -> pa.LargeStringArray | None:
        """The words whose ranks are kept: of a version by its number, of another build, or of a folder of vectors."""
        if align is None:
            return None
        place = vectors_of(self.build, int(align)) if align.isdecimal() else vectors_of(align)
        return storage.read_table(storage.join(place, layout.WORDS))["word"].combine_chunks()

    def _stage_options(self) -> BuildOptions:
        # Workers have other working directories.
        return self.options.derive({"tokenizer": tokenizer_path(self.options.tokenizer)}, self.build)


def ledger_of_job(build: str, job: Row) -> Ledger:
    """Where a job writes down what is done: a folder of its own, so that no worker of another one adds to it."""
    return Ledger(storage.join(build, layout.LEDGER, job["id"]))


def _text_bytes(task: CountTask) -> int:
    return sum(map(estimated_text_bytes, task.sources))


def _shards_of(task: str, shards: Sequence[Segment]) -> list[str]:
    return [shard.name for shard in shards if shard.name.startswith(f"{task}-")]


def _by_name(source: Source) -> bytes:
    return source.uri.encode()
