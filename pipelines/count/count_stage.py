"""Counting stage: from the sources of a task to the words and pairs of each of its shards.

A worker counts documents as soon as it has read them, so nothing accumulates between reading and counting. A shard that
does not fit in memory is counted in batches. Each batch is written as a sorted segment, and these segments are merged.
In threads of one process, one thread tokenizes while the others read, count pairs and write.
"""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np

from bitcipher.counts.digest import CountDigest, digest_pairs, digest_words, word_hashes
from bitcipher.counts.pairs import PairBlock
from bitcipher.counts.segment import remove_part, write_part
from bitcipher.counts.shard_counts import count_shard
from bitcipher.files import storage
from pipelines.count.count_batches import CountBatch, iter_batches
from pipelines.count.count_tasks import CountTask
from pipelines.ingest.document_chunks import DocumentChunk
from pipelines.ingest.held_out import HeldOut, KeptDocuments
from pipelines.ingest.quarantine import Quarantine
from pipelines.ingest.readers import read_chunks
from pipelines.ingest.record_counts import RecordCounts
from pipelines.ingest.source_changes import check_unchanged
from pipelines.merge.merge_segments import merge_segments
from pipelines.options import BuildOptions
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.memory_budget import MemoryBudget
from pipelines.runtime.stage_threads import end_if_stopped
from pipelines.store.job_ledger import COUNTED_SHARDS, COUNTED_TASKS
from pipelines.store.layout import SHARDS, WORK
from pipelines.store.ledger import Ledger
from pipelines.store.manifest import CountedTask
from pipelines.store.segments import FAN_IN, Merge, Segment
from pipelines.tokenizers.shared_tokenizer import share_tokenizer


@dataclass(frozen=True)
class CountedShard:
    """Output of `CountStage`: a shard that is counted and recorded."""

    task: str
    """Id of the count task that the shard belongs to."""
    shard: Segment
    """Counts of the shard."""

    @property
    def metrics(self) -> dict[str, int]:
        """Sizes by name, which Ray exports as counters."""
        return {name: getattr(self.shard, name) for name in ("documents", "text_bytes", "tokens", "entries")}


class CountStage:
    """Stage that reads the sources of a task and counts its shards.

    Args:
        build: folder of the build.
        ledger: URI of the ledger that records shards and tasks.
        options: options of the build.
        shard_bytes: bytes of UTF-8 text per shard, by default those of the options.
        held_out: documents that are not counted.
    """

    def __init__(
        self,
        build: str,
        ledger: str,
        options: BuildOptions,
        shard_bytes: int | None = None,
        held_out: HeldOut | None = None,
    ):
        self._build = build
        self._ledger = Ledger(ledger)
        self._options = options
        self._budget = MemoryBudget(options.memory_mib)
        self._tokenizer = share_tokenizer(
            options.tokenizer, options.lowercase, self._budget.chunks, options.normalization
        )
        self._context_window = options.context_window
        self._shard_bytes = shard_bytes or options.shard_mib << 20
        self._read_chunks = read_chunks if held_out is None else KeptDocuments(held_out).read_chunks

    def __call__(self, task: CountTask) -> Iterator[CountedShard]:
        """Yield the shards of a task. Shards in the ledger are not counted again."""
        records: dict[str, RecordCounts] = {}
        names = []
        for number, shard in enumerate(split_shards(self._read(task, records), self._shard_bytes)):
            if number == task.stop:
                break
            if number >= task.start:
                segment = self._find_or_count(task, number, shard)
                names.append(segment.name)
                yield CountedShard(task.id, segment)
            _skip(shard)
        check_unchanged(task.sources)
        hashes = tuple(source.sha256 for source in task.sources)
        entry = CountedTask(id=task.id, sources=hashes, shards=tuple(names), records=records)
        self._ledger.record(COUNTED_TASKS, task.id, entry)

    def _read(self, task: CountTask, records: dict[str, RecordCounts]) -> Iterator[DocumentChunk]:
        """Yield the chunks of the sources of a task, and add the counts of their other records to `records`."""
        for source in task.sources:
            quarantine = Quarantine(source.uri, self._options.max_bad_share)
            for chunk in self._read_chunks(source, self._options, quarantine):
                end_if_stopped()
                yield chunk
            # Of the tasks that read a large source, only the last one counts its records.
            if task.stop is None and quarantine.counts != RecordCounts():
                records[source.sha256] = quarantine.counts

    def _find_or_count(self, task: CountTask, number: int, shard: Iterator[DocumentChunk]) -> Segment:
        key = f"{task.id}/{number:05d}"
        segment = self._ledger.find(COUNTED_SHARDS, key)
        if segment is None:
            counted = self._count(f"{task.id}-{number:05d}", shard)
            check_unchanged(task.sources)
            segment = self._ledger.record(COUNTED_SHARDS, key, counted)
        return segment

    def _count(self, name: str, chunks: Iterator[DocumentChunk]) -> Segment:
        """Count the batches of a shard, and return the sum of their segments."""
        segments = []
        for batch in iter_batches(chunks, self._tokenizer, self._context_window.size, self._budget.batch_bytes):
            segments.append(self._write_batch(f"{name}-{uuid.uuid4().hex[:8]}", batch))
        while len(segments) > 1:
            segments = [*segments[FAN_IN:], self._merge(f"{name}-{uuid.uuid4().hex[:8]}", segments[:FAN_IN])]
        return segments[0].model_copy(update={"name": name, "shards": (name,)})

    def _write_batch(self, name: str, batch: CountBatch) -> Segment:
        counts = count_shard(batch.tokens, self._context_window, batch.carried)
        part = storage.join(SHARDS, name)
        hashes = word_hashes(counts.words)
        digests = [digest_words(hashes, counts.counts, counts.passages, counts.total_passages)]
        hashes = hashes[np.argsort(counts.numbers)]

        def add_digests() -> Iterator[PairBlock]:
            for block in counts.pairs:
                end_if_stopped()
                digests.append(digest_pairs(block, hashes))
                yield block

        columns = (counts.words, counts.numbers, counts.counts, counts.passages)
        written = write_part(storage.join(self._build, part), *columns, add_digests())
        return Segment(
            name=name,
            parts=(part,),
            part_hashes=(written.sha256,),
            shards=(name,),
            documents=batch.documents,
            total_passages=counts.total_passages,
            text_bytes=batch.text_bytes,
            tokens=len(batch.tokens.ids) - batch.carried,
            types=len(counts.words),
            entries=written.entries,
            digest=sum(digests, CountDigest()).hex(),
        )

    def _merge(self, name: str, segments: list[Segment]) -> Segment:
        """Merge segments, remove them, and return the merged segment."""
        work = storage.join(self._build, WORK, name)
        merges, limits = {name: Merge(tuple(segments))}, self._budget.range_limits_while_counting
        (merged,) = merge_segments(merges, self._build, SHARDS, work, limits, InProcessRuntime())
        for segment in segments:
            for part in segment.parts:
                remove_part(storage.join(self._build, part))
        return merged


def split_shards(chunks: Iterator[DocumentChunk], shard_bytes: int) -> Iterator[Iterator[DocumentChunk]]:
    """Yield an iterator over the chunks of each shard. Documents are never split between shards.

    Exhaust each iterator before taking the next one.
    """
    for first in chunks:
        yield _take_shard(chain([first], chunks), shard_bytes)


def _take_shard(chunks: Iterator[DocumentChunk], shard_bytes: int) -> Iterator[DocumentChunk]:
    size = 0
    for chunk in chunks:
        yield chunk
        size += len(chunk.text) if chunk.text.isascii() else len(chunk.text.encode())
        if size >= shard_bytes and not chunk.continues:
            return


def _skip(shard: Iterator[DocumentChunk]) -> None:
    for _ in shard:
        pass
