"""Counting: from the sources of a task to the words and pairs of each of its shards.

**Tasks** are units of work, each with one or more sources, or with some shards of a source. They depend only on the
sources that are counted together and the shard size. So the same sources give the same tasks on a laptop and on a
cluster. The id of a task is a hash of the content of its sources, so a finished task is recognized after its files are
renamed.

**Batches** are parts of a shard that fit in memory. The counts of all batches add up to those of the shard. A document
that continues in the next batch is split at the end of a passage of 2,000 tokens, because passages are the unit of
document frequencies. The last tokens before the split are repeated in the next batch as left context.

**The stage** counts documents as soon as it has read them, so nothing accumulates between reading and counting. Each
batch is written as a sorted segment, and these segments are merged.
"""

import hashlib
import math
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bitcipher.counts.digest import CountDigest, digest_pairs, digest_words, word_hashes
from bitcipher.counts.pairs import PairBlock
from bitcipher.counts.segment import remove_part, write_part
from bitcipher.counts.shard_counts import PASSAGE_TOKENS, count_shard
from bitcipher.counts.tokenized_shard import TokenizedShard
from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from pipelines.ingest.chunk_batches import BatchJoiner, ChunkBatch, read_batches
from pipelines.ingest.held_out import HeldOut, KeptDocuments
from pipelines.ingest.quarantine import Quarantine
from pipelines.ingest.record_counts import RecordCounts
from pipelines.ingest.source_changes import check_unchanged
from pipelines.ingest.source_groups import estimate_text_bytes
from pipelines.ingest.sources import Source
from pipelines.merge.merge_segments import merge_segments
from pipelines.options import BuildOptions
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.memory_budget import MemoryBudget
from pipelines.runtime.stopping import end_if_stopped
from pipelines.store.build_folder import COUNTED_SHARDS, COUNTED_TASKS
from pipelines.store.layout import SHARDS, WORK
from pipelines.store.ledger import Ledger
from pipelines.store.manifest import CountedTask
from pipelines.store.segments import FAN_IN, Merge, Segment
from pipelines.tokenizers.registry import Tokenizer
from pipelines.tokenizers.shared_tokenizer import share_tokenizer

# The text of a corpus is divided into at least this number of tasks, so that a machine of few cores uses all of them.
# More tasks would take more time for merging: of 180 MB of text, 2 s with four shards and 4 s with nine.
TASKS = 4

# Bytes of text of the smallest tasks of a corpus that has enough of it. A smaller one would take more time to start and
# to merge than it saves.
MIN_TASK_BYTES = 10 << 20

# A file with much text is read by several tasks. Each task counts its own shards and skips the others. Reading takes a
# tenth of the time of counting, and a task skips half of the file on average, so a file in four parts takes 15 % more
# CPU time in all.
PARTS_PER_FILE = 4

# A file with this many times the text of a task is divided.
MIN_PARTS = 1.5

# Parts of a file of many shards, and the number of shards from which on it has as many.
TASKS_PER_FILE = 8
SHARDS_PER_TASK = 8


@dataclass(frozen=True)
class CountTask:
    """Sources that one worker reads in sequence, and the range of shards that it counts."""

    id: str
    """Hash of the content of the sources, the shard size and the first shard. The names of shards begin with it."""
    sources: tuple[Source, ...]
    shard_bytes: int
    """Bytes of UTF-8 text per shard."""
    start: int = 0
    """First shard to count."""
    stop: int | None = None
    """Shard after the last one to count; None to count to the end."""


def plan_tasks(sources: Sequence[Source], shard_bytes: int) -> list[CountTask]:
    """Partition the sources into tasks.

    Consecutive sources share a task, and a source with much text has several. The tasks become smaller towards the end,
    so that workers end at about the same time. Sizes are estimated from those of the files.

    Args:
        sources: the listed sources, with content hashes.
        shard_bytes: maximum bytes of UTF-8 text per shard. A task has one shard, except for parts of very large files.
    """
    if shard_bytes < 1:
        raise BitcipherError(f"`shard_bytes` must be at least 1, got {shard_bytes}.")
    rest = sum(map(estimate_text_bytes, sources))
    smallest = max(MIN_TASK_BYTES, rest // (2 * TASKS))
    tasks: list[CountTask] = []
    group: list[Source] = []
    size = 0

    def end_group() -> None:
        nonlocal size, rest
        if group:
            tasks.append(CountTask(_task_id(group, shard_bytes, 0), tuple(group), shard_bytes))
            rest -= size
            size = 0
            group.clear()

    for source in sources:
        source_bytes = estimate_text_bytes(source)
        goal = min(shard_bytes, max(smallest, rest // TASKS))
        # Without the source, the group is closer to the goal.
        if abs(size + source_bytes - goal) > abs(size - goal):
            end_group()
            goal = min(shard_bytes, max(smallest, rest // TASKS))
        if source_bytes >= MIN_PARTS * goal:
            end_group()
            tasks += _split_source(source, source_bytes, goal, shard_bytes)
            rest -= source_bytes
            continue
        group.append(source)
        size += source_bytes
        if size >= goal:
            end_group()
    end_group()
    return tasks


def _split_source(source: Source, source_bytes: int, goal: int, shard_bytes: int) -> list[CountTask]:
    """Return the tasks of a source with more text than one."""
    shards = -(-source_bytes // shard_bytes)
    tasks = min(TASKS_PER_FILE, shards // SHARDS_PER_TASK)
    if tasks < PARTS_PER_FILE:
        # Halves, because workers of equal speed would wait for a third part.
        tasks = min(PARTS_PER_FILE, 1 << round(math.log2(source_bytes / goal)))
        shards = tasks * -(-shards // tasks)
        shard_bytes = -(-source_bytes // shards)
    starts = [task * shards // tasks for task in range(tasks)]
    # The number of shards is known only after reading, so the last task has no end.
    bounds = zip(starts, [*starts[1:], None], strict=True)
    return [
        CountTask(_task_id([source], shard_bytes, start), (source,), shard_bytes, start, stop) for start, stop in bounds
    ]


def _task_id(sources: Sequence[Source], shard_bytes: int, start: int) -> str:
    # The shard size is part of the id, because it determines where shards begin.
    content = "\n".join([*(f"{source.sha256} {source.format}" for source in sources), f"{shard_bytes} {start}"])
    return hashlib.sha256(content.encode()).hexdigest()[:20]


_NO_WORDS = pa.array([], pa.large_string())


class CountBatch(NamedTuple):
    """Tokens that are counted together."""

    tokens: TokenizedShard
    """The repeated tokens of the previous batch, followed by the tokens to count."""
    carried: int
    """Number of repeated tokens of the previous batch, which serve as left context only."""
    text_bytes: int
    """Number of bytes of UTF-8 text."""
    documents: int
    """Number of documents that end in the batch."""


def iter_batches(
    chunks: Iterable[ChunkBatch], tokenizer: Tokenizer, window: int, batch_bytes: int
) -> Iterator[CountBatch]:
    """Yield the tokenized batches of a shard.

    Args:
        chunks: the chunks of the shard, in batches of any size. The last document is complete.
        tokenizer: tokenizer of the build.
        window: maximum number of tokens that a batch repeats from the preceding batch, if a document continues.
        batch_bytes: bytes of UTF-8 text per batch. A batch exceeds it by at most one chunk. It is smaller if it has
            more distinct words than the tokenizer has memory for.
    """
    carried = waiting = _NO_WORDS  # tokens of a document that continues: counted, and not yet counted
    for tokens, continues, text_bytes in _tokenize_groups(chunks, tokenizer, batch_bytes):
        ends = tokens.ends[~continues]
        before = pa.concat_arrays([carried, waiting])
        tokens = TokenizedShard(*_prepend(before, tokens), ends + len(before))
        context = len(carried)
        carried = waiting = _NO_WORDS
        if continues[-1]:
            # Count the whole passages of the document that continues, and keep its other tokens for the next batch.
            start = int(tokens.ends[-1]) if len(ends) else context
            stop = start + (len(tokens.ids) - start) // PASSAGE_TOKENS * PASSAGE_TOKENS
            first = max(stop - window, start if len(ends) else 0)
            carried = tokens.words.take(pa.array(tokens.ids[first:stop]))
            waiting = tokens.words.take(pa.array(tokens.ids[stop:]))
            tokens = TokenizedShard(tokens.words, tokens.ids[:stop], np.append(tokens.ends, stop))
        yield CountBatch(tokens, context, text_bytes, len(ends))


def _tokenize_groups(
    chunks: Iterable[ChunkBatch], tokenizer: Tokenizer, batch_bytes: int
) -> Iterator[tuple[TokenizedShard, np.ndarray, int]]:
    """Yield the tokens of the chunks of each batch, whether each chunk continues, and the number of bytes."""
    for group in _group_chunks(chunks, batch_bytes):
        while len(group.texts):
            tokens = tokenizer.tokenize(group.texts, in_part=True)
            done = len(tokens.ends)
            yield tokens, group.continues[:done], int(group.ends[done - 1])
            group = group.slice(done)


def _group_chunks(chunks: Iterable[ChunkBatch], batch_bytes: int) -> Iterator[ChunkBatch]:
    """Yield the chunks of each group, which ends with the chunk that fills it."""
    group = BatchJoiner(batch_bytes)
    for batch in chunks:
        while len(batch.texts):
            part = batch.slice(0, int(np.searchsorted(batch.ends, batch_bytes - group.size)) + 1)
            batch = batch.slice(len(part.texts))
            group.add(part)
            if group.size >= batch_bytes:
                full, group = group.join(), BatchJoiner(batch_bytes)
                yield full
    if group:
        yield group.join()


def _prepend(words: pa.LargeStringArray, tokens: TokenizedShard) -> tuple[pa.LargeStringArray, np.ndarray]:
    """Return the distinct words and the ids of `words` followed by `tokens`."""
    if not len(words):
        return tokens.words, tokens.ids
    new = pc.unique(words).filter(pc.invert(pc.is_in(pc.unique(words), tokens.words)))
    all_words = pa.concat_arrays([tokens.words, new])
    ids = np.asarray(pc.index_in(words, all_words), np.int32)
    return all_words, np.concatenate([ids, tokens.ids])


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
        held_out: documents that are not counted.
    """

    def __init__(
        self,
        build: str,
        ledger: str,
        options: BuildOptions,
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
        self._read_batches = read_batches if held_out is None else KeptDocuments(held_out).read_batches

    def __call__(self, task: CountTask) -> Iterator[CountedShard]:
        """Yield the shards of a task. Shards in the ledger are not counted again."""
        records: dict[str, RecordCounts] = {}
        names = []
        for number, shard in enumerate(split_shards(self._read(task, records), task.shard_bytes)):
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

    def _read(self, task: CountTask, records: dict[str, RecordCounts]) -> Iterator[ChunkBatch]:
        """Yield the chunks of the sources of a task, and add the counts of their other records to `records`."""
        for source in task.sources:
            quarantine = Quarantine(source.uri, self._options.max_bad_share)
            for batch in self._read_batches(source, self._options, quarantine):
                end_if_stopped()
                yield batch
            # Of the tasks that read a large source, only the last one counts its records.
            if task.stop is None and quarantine.counts != RecordCounts():
                records[source.sha256] = quarantine.counts

    def _find_or_count(self, task: CountTask, number: int, shard: Iterator[ChunkBatch]) -> Segment:
        key = f"{task.id}/{number:05d}"
        segment = self._ledger.find(COUNTED_SHARDS, key)
        if segment is None:
            counted = self._count(f"{task.id}-{number:05d}", shard)
            check_unchanged(task.sources)
            segment = self._ledger.record(COUNTED_SHARDS, key, counted)
        return segment

    def _count(self, name: str, chunks: Iterator[ChunkBatch]) -> Segment:
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


def split_shards(chunks: Iterator[ChunkBatch], shard_bytes: int) -> Iterator[Iterator[ChunkBatch]]:
    """Yield an iterator over the chunks of each shard. Documents are never split between shards.

    Exhaust each iterator before taking the next one.
    """
    rest: list[ChunkBatch] = []  # chunks after the end of a shard
    while (first := rest.pop() if rest else next(chunks, None)) is not None:
        yield _take_shard(chain([first], chunks), rest, shard_bytes)


def _take_shard(chunks: Iterator[ChunkBatch], rest: list[ChunkBatch], shard_bytes: int) -> Iterator[ChunkBatch]:
    """Yield the chunks of a shard, and append the chunks of its last batch that follow it to `rest`."""
    size = 0
    for batch in chunks:
        is_last = (size + batch.ends >= shard_bytes) & ~batch.continues
        if is_last.any():
            stop = int(is_last.argmax()) + 1
            if stop < len(is_last):
                rest.append(batch.slice(stop))
            yield batch.slice(0, stop)
            return
        size += int(batch.ends[-1])
        yield batch


def _skip(shard: Iterator[ChunkBatch]) -> None:
    for _ in shard:
        pass
