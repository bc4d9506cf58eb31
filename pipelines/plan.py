"""The plan of reading: which sources make up which task.

A task follows from the listing alone, never from workers or blocks, so the same sources give the same shards
on a laptop and on a cluster (SPEC section 5).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bitcipher.errors import BitcipherError
from pipelines.sources import Source, compression_of

# Bytes of text to a stored byte of a compressed file or of Parquet: gzip shrinks English about 2.7 times.
TEXT_PER_COMPRESSED_BYTE = 3


@dataclass(frozen=True)
class ReadTask:
    """Sources that one worker reads in one go."""

    name: str
    """The task's place in the plan, such as "00007"; its shards are named after it."""
    sources: tuple[Source, ...]
    """In the order of the listing."""

    def to_row(self) -> dict[str, Any]:
        """The task in plain values, as a row of a Ray dataset."""
        return {
            "name": self.name,
            "uris": [source.uri for source in self.sources],
            "sizes": [source.size for source in self.sources],
            "formats": [source.format for source in self.sources],
        }

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> "ReadTask":
        """The task that `to_row` wrote."""
        columns = zip(row["uris"], row["sizes"], row["formats"], strict=True)
        return cls(str(row["name"]), tuple(Source(str(uri), int(size), str(kind)) for uri, size, kind in columns))


def plan_reading(sources: Sequence[Source], shard_bytes: int) -> list[ReadTask]:
    """Deal the sources into tasks, every source once and in order.

    Sources that follow one another share a task until its text reaches `shard_bytes`, as far as sizes tell; a
    source that reaches it alone is a task of its own.

    Args:
        sources: the listing.
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
    return [ReadTask(f"{index:05d}", tuple(group)) for index, group in enumerate(groups)]


def estimated_text_bytes(source: Source) -> int:
    """Bytes of text that the source probably holds, judged by its size alone."""
    is_compressed = source.format == "parquet" or compression_of(source.uri) != ""
    return source.size * (TEXT_PER_COMPRESSED_BYTE if is_compressed else 1)
