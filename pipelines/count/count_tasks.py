"""Count tasks: how sources are grouped into units of work.

Tasks depend on the sources only, never on workers, and are named after the content of their sources. So the same
sources give the same tasks on a laptop and on a cluster, and a finished task is recognized if its files are renamed.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from bitcipher.errors import BitcipherError
from pipelines.ingest.sources import Source, compression_of

# Bytes of text per stored byte of a compressed file or of Parquet: gzip compresses English about 2.7 times.
TEXT_PER_COMPRESSED_BYTE = 3

# A file of many shards is read by several tasks, each of which counts its own shards and skips the others. Reading
# takes a twentieth of the time of counting, so reading a file eight times costs at most a fifth more.
SHARDS_PER_TASK = 8
TASKS_PER_FILE = 8


@dataclass(frozen=True)
class CountTask:
    """Sources that one worker reads in sequence, and the range of their shards that it counts."""

    id: str
    """Hash of the content of the sources, the shard size and the first shard; shards are named after it."""
    sources: tuple[Source, ...]
    """Sources in the order of the listing."""
    start: int = 0
    """First shard to count."""
    stop: int | None = None
    """Shard after the last one to count; None to count all that follow."""


def plan_tasks(sources: Sequence[Source], shard_bytes: int) -> list[CountTask]:
    """Partition the sources into tasks.

    Consecutive sources share a task until its text reaches `shard_bytes`, estimated by file size. A source that reaches
    it alone has a task of its own, or several if it is very large.

    Args:
        sources: the listing, with content hashes.
        shard_bytes: UTF-8 text per shard.
    """
    if shard_bytes < 1:
        raise BitcipherError(f"`shard_bytes` must be at least 1, got {shard_bytes}.")
    groups: list[list[Source]] = []
    room = 0
    for source in sources:
        text_bytes = estimate_text_bytes(source)
        if room <= 0 or text_bytes >= shard_bytes:
            groups.append([])
            room = shard_bytes
        groups[-1].append(source)
        room -= text_bytes
    return [task for group in groups for task in _split_group(tuple(group), shard_bytes)]


def estimate_text_bytes(source: Source) -> int:
    """Return the estimated bytes of text in a source, by its size."""
    is_compressed = source.format == "parquet" or compression_of(source.uri) != ""
    return source.size * (TEXT_PER_COMPRESSED_BYTE if is_compressed else 1)


def _split_group(sources: tuple[Source, ...], shard_bytes: int) -> list[CountTask]:
    shards = -(-sum(map(estimate_text_bytes, sources)) // shard_bytes)
    tasks = max(1, min(TASKS_PER_FILE, shards // SHARDS_PER_TASK))
    starts = [task * shards // tasks for task in range(tasks)]
    # The number of shards is known only after reading, so the last task has no end.
    bounds = zip(starts, [*starts[1:], None], strict=True)
    return [CountTask(_task_id(sources, shard_bytes, start), sources, start, stop) for start, stop in bounds]


def _task_id(sources: tuple[Source, ...], shard_bytes: int, start: int) -> str:
    # The size is part of the id, because it determines where shards begin.
    content = "\n".join([*(f"{source.sha256} {source.format}" for source in sources), f"{shard_bytes} {start}"])
    return hashlib.sha256(content.encode()).hexdigest()[:20]
