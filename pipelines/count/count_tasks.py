"""The plan of counting: which sources make up which task.

A task follows from the listing alone, never from workers or blocks, and is named after the content of its sources
(SPEC sections 2 and 5). So the same sources give the same tasks on a laptop and on a cluster, and a task that was done
is known again under whatever names its files are found next time.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bitcipher.errors import BitcipherError
from pipelines.ingest.sources import Source, compression_of

# Bytes of text to a stored byte of a compressed file or of Parquet: gzip shrinks English about 2.7 times.
TEXT_PER_COMPRESSED_BYTE = 3

# A file of many shards is read by several tasks, each of which counts its own shards and passes over the others.
# Reading takes a twentieth of the time of counting, so reading a file eight times over costs a fifth at most.
SHARDS_OF_A_TASK = 8
TASKS_OF_A_FILE = 8


@dataclass(frozen=True)
class CountTask:
    """Sources that one worker reads in one go, and which of their shards it counts."""

    id: str
    """Follows from the content of the sources, the size of shards, and the first; its shards are named after it."""
    sources: tuple[Source, ...]
    """In the order of the listing."""
    first: int = 0
    """The first shard that is counted here."""
    behind: int | None = None
    """The shard to stop before, or None for all the rest."""

    def to_row(self) -> dict[str, Any]:
        """The task in plain values."""
        return {**asdict(self), "sources": [asdict(source) for source in self.sources]}

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> "CountTask":
        """The task that `to_row` wrote."""
        return cls(row["id"], tuple(Source(**source) for source in row["sources"]), row["first"], row["behind"])


def plan_counting(sources: Sequence[Source], shard_bytes: int) -> list[CountTask]:
    """Deal the sources into tasks, every source once and in order.

    Sources that follow one another share a task until its text reaches `shard_bytes`, as far as sizes tell; a
    source that reaches it alone has a task of its own, or several if it is very large.

    Args:
        sources: the listing, with the digests of their content.
        shard_bytes: UTF-8 text that a shard should hold, in bytes.
    """
    if shard_bytes < 1:
        raise BitcipherError(f"A shard of {shard_bytes} bytes is not possible; ask for 1 or more.")
    groups: list[list[Source]] = []
    room = 0
    for source in sources:
        text_bytes = estimated_text_bytes(source)
        if room <= 0 or text_bytes >= shard_bytes:
            groups.append([])
            room = shard_bytes
        groups[-1].append(source)
        room -= text_bytes
    return [task for group in groups for task in _tasks_of(tuple(group), shard_bytes)]


def estimated_text_bytes(source: Source) -> int:
    """Bytes of text that the source probably holds, judged by its size alone."""
    is_compressed = source.format == "parquet" or compression_of(source.uri) != ""
    return source.size * (TEXT_PER_COMPRESSED_BYTE if is_compressed else 1)


def _tasks_of(sources: tuple[Source, ...], shard_bytes: int) -> list[CountTask]:
    shards = -(-sum(map(estimated_text_bytes, sources)) // shard_bytes)
    tasks = max(1, min(TASKS_OF_A_FILE, shards // SHARDS_OF_A_TASK))
    firsts = [task * shards // tasks for task in range(tasks)]
    # How many shards there are is known only when the text has been read, so the last task takes all the rest.
    bounds = zip(firsts, [*firsts[1:], None], strict=True)
    return [CountTask(_name(sources, shard_bytes, first), sources, first, behind) for first, behind in bounds]


def _name(sources: tuple[Source, ...], shard_bytes: int, first: int) -> str:
    # Where shards begin follows from their size: counts of shards of two sizes must never be taken for one another.
    content = "\n".join([*(f"{source.sha256} {source.format}" for source in sources), f"{shard_bytes} {first}"])
    return hashlib.sha256(content.encode()).hexdigest()[:20]
