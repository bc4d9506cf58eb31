"""The first stage: sources → the words and pairs of each shard.

Reading and counting are one step: a worker reads as much as it counts at once, so nothing piles up between them. A
shard that is larger than a worker's memory allows is counted in slices, each written aside as a sorted run, and the
runs are merged.
"""

import uuid
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

import numpy as np

from bitcipher import storage
from bitcipher.counts import (
    CountDigest,
    PairBlock,
    count_shard,
    digest_pairs,
    digest_words,
    remove_part,
    word_hashes,
    write_part,
)
from bitcipher.errors import BitcipherError
from pipelines.count.count_batches import CountBatch, iter_batches
from pipelines.count.count_tasks import CountTask
from pipelines.ingest.document_chunks import DocumentChunk
from pipelines.ingest.readers import read_chunks
from pipelines.ingest.sources import Source, list_sources
from pipelines.merge.merge_segments import merge_segments
from pipelines.options import BuildOptions
from pipelines.runtime.memory_budget import MemoryBudget
from pipelines.runtime.runtime import InProcessRuntime, Row
from pipelines.store.layout import SHARDS, WORK
from pipelines.store.ledger import Ledger
from pipelines.store.segments import FAN_IN, Merge, Segment
from pipelines.tokenizers import make_tokenizer


class CountStage:
    """Reads the sources of a task, and counts their shards.

    Args:
        build: the folder of the build.
        ledger: where shards are written down.
        options: of the build.
        shard_bytes: text of a shard; that of the options if not given.
    """

    def __init__(self, build: str, ledger: str, options: BuildOptions, shard_bytes: int | None = None):
        self._build = build
        self._ledger = Ledger(ledger)
        self._options = options
        self._budget = MemoryBudget(options.memory_mib)
        self._tokenizer = make_tokenizer(options.tokenizer, options.lowercase, self._budget.chunks)
        self._context_window = options.context_window
        self._shard_bytes = shard_bytes or options.shard_mib << 20

    def __call__(self, row: Row) -> Iterator[Row]:
        """From a `CountTask` to a `Segment` for each of its shards."""
        task = CountTask.from_row(row)
        pieces = (piece for source in task.sources for piece in read_chunks(source, self._options))
        for number, shard in enumerate(split_shards(pieces, self._shard_bytes)):
            if number == task.behind:
                break
            if number >= task.first:
                yield self._once(task, number, shard)
            _pass_over(shard)
        _check_unchanged(task.sources)
        self._ledger.record(done_key(task), {})

    def _once(self, task: CountTask, number: int, shard: Iterator[DocumentChunk]) -> Row:
        key = f"count/{task.id}/{number:05d}"
        entry = self._ledger.find(key)
        if entry is None:
            segment = self._count(f"{task.id}-{number:05d}", shard)
            _check_unchanged(task.sources)
            entry = self._ledger.record(key, segment.to_dict())
        return entry

    def _count(self, name: str, pieces: Iterator[DocumentChunk]) -> Segment:
        """The segment of a shard: that of its only slice, or the sum of those of all slices."""
        runs = []
        for slice_ in iter_batches(pieces, self._tokenizer, self._context_window.size, self._budget.slice_bytes):
            runs.append(self._write_run(f"{name}-{uuid.uuid4().hex[:8]}", slice_))
        while len(runs) > 1:
            runs = [*runs[FAN_IN:], self._merge(f"{name}-{uuid.uuid4().hex[:8]}", runs[:FAN_IN])]
        return replace(runs[0], name=name, shards=(name,))

    def _write_run(self, name: str, slice_: CountBatch) -> Segment:
        counts = count_shard(slice_.tokens, self._context_window, slice_.carried)
        part = storage.join(SHARDS, name)
        hashes = word_hashes(counts.words)
        digests = [digest_words(hashes, counts.counts, counts.passages, counts.total_passages)]
        hashes = hashes[np.argsort(counts.numbers)]

        def digested() -> Iterator[PairBlock]:
            for block in counts.pairs:
                digests.append(digest_pairs(block, hashes))
                yield block

        columns = (counts.words, counts.numbers, counts.counts, counts.passages)
        entries = write_part(storage.join(self._build, part), *columns, digested())
        return Segment(
            name=name,
            parts=(part,),
            shards=(name,),
            documents=slice_.documents,
            total_passages=counts.total_passages,
            text_bytes=slice_.text_bytes,
            tokens=len(slice_.tokens.ids) - slice_.carried,
            types=len(counts.words),
            entries=entries,
            digest=sum(digests, CountDigest()).hex(),
        )

    def _merge(self, name: str, runs: list[Segment]) -> Segment:
        """The sum of runs, which are removed."""
        work = storage.join(self._build, WORK, name)
        merges = {name: Merge(tuple(runs))}
        (segment,) = merge_segments(merges, self._build, SHARDS, work, self._budget.range_entries, InProcessRuntime())
        for run in runs:
            for part in run.parts:
                remove_part(storage.join(self._build, part))
        return segment


def done_key(task: CountTask) -> str:
    """What the ledger calls a task that is done."""
    return f"count/{task.id}/done"


def split_shards(pieces: Iterator[DocumentChunk], shard_bytes: int) -> Iterator[Iterator[DocumentChunk]]:
    """The documents of each shard in turn, to be taken to their end before the next; none is cut in two."""
    for first in pieces:
        yield _shard(chain([first], pieces), shard_bytes)


def _shard(pieces: Iterator[DocumentChunk], shard_bytes: int) -> Iterator[DocumentChunk]:
    size = 0
    for piece in pieces:
        yield piece
        size += len(piece.text) if piece.text.isascii() else len(piece.text.encode())
        if size >= shard_bytes and not piece.continues:
            return


def _pass_over(shard: Iterator[DocumentChunk]) -> None:
    for _ in shard:
        pass


def _check_unchanged(sources: tuple[Source, ...]) -> None:
    for source in sources:
        (now,) = list_sources([source.uri], source.format)
        if (now.size, now.stamp) != (source.size, source.stamp):
            raise BitcipherError(
                f"{source.uri} was changed while it was counted: let it be finished, and run the same command again."
            )
