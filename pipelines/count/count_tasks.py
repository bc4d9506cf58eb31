"""Count tasks: units of work, each with one or more sources, or with some shards of a large source.

Tasks depend only on the sources and the shard size. So the same sources give the same tasks on a laptop and on a
cluster. The id of a task is a hash of the content of its sources, so a finished task is recognized after its files are
renamed.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from bitcipher.errors import BitcipherError
from pipelines.ingest.source_groups import estimate_text_bytes, group_sources
from pipelines.ingest.sources import Source

# A file with many shards is read by several tasks. Each task counts its own shards and skips the others. Reading takes
# a twentieth of the time of counting. Of a file that is read eight times, a task skips half on average, so all tasks
# together take at most a fifth more time.
SHARDS_PER_TASK = 8
TASKS_PER_FILE = 8


@dataclass(frozen=True)
class CountTask:
    """Sources that one worker reads in sequence, and the range of shards that it counts."""

    id: str
    """Hash of the content of the sources, the shard size and the first shard. The names of shards begin with it."""
    sources: tuple[Source, ...]
    start: int = 0
    """First shard to count."""
    stop: int | None = None
    """Shard after the last one to count; None to count to the end."""


def plan_tasks(sources: Sequence[Source], shard_bytes: int) -> list[CountTask]:
    """Partition the sources into tasks.

    Consecutive sources share a task until their text reaches `shard_bytes`, estimated by file size. A source with at
    least `shard_bytes` of text has a task of its own, or several tasks if it is very large.

    Args:
        sources: the listed sources, with content hashes.
        shard_bytes: bytes of UTF-8 text per shard.
    """
    if shard_bytes < 1:
        raise BitcipherError(f"`shard_bytes` must be at least 1, got {shard_bytes}.")
    groups = group_sources(sources, shard_bytes)
    return [task for group in groups for task in _split_group(group, shard_bytes)]


def _split_group(sources: tuple[Source, ...], shard_bytes: int) -> list[CountTask]:
    shards = -(-sum(map(estimate_text_bytes, sources)) // shard_bytes)
    tasks = max(1, min(TASKS_PER_FILE, shards // SHARDS_PER_TASK))
    starts = [task * shards // tasks for task in range(tasks)]
    # The number of shards is known only after reading, so the last task has no end.
    bounds = zip(starts, [*starts[1:], None], strict=True)
    return [CountTask(_task_id(sources, shard_bytes, start), sources, start, stop) for start, stop in bounds]


def _task_id(sources: tuple[Source, ...], shard_bytes: int, start: int) -> str:
    # The shard size is part of the id, because it determines where shards begin.
    content = "\n".join([*(f"{source.sha256} {source.format}" for source in sources), f"{shard_bytes} {start}"])
    return hashlib.sha256(content.encode()).hexdigest()[:20]
