"""Segments of a build, and the policy that decides which of them are merged.

Shards are the first segments. A merged segment holds the sum of its members. Merging keeps the number of segments of
similar size (a tier) small, as in a log-structured merge tree, so that an update reads as few segments after a hundred
updates as after one, and rewrites a pair of words once per tier only.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field

from bitcipher.counts import CountDigest
from bitcipher.records import Count, Record, Strings

# Segments form a tier if the largest has at most TIER times as many pairs as the smallest; at least TIER of them are
# merged. A larger number leaves more segments to read, a smaller one writes more: with 3, a pair is rewritten about
# log₃(all pairs / pairs of an update) times.
TIER = 3

# Maximum number of segments that one merge reads: a part of each has two open files, and 64 may be open.
FAN_IN = 32


class Segment(Record):
    """Counts of some text; its parts are files below the build (see `bitcipher.counts.segment`)."""

    name: str
    """For a shard, the id of its task and its number in the task; for a merged segment, a hash of its members."""
    parts: Strings
    """Names below the build, in the order of their words."""
    shards: Strings
    """Names of the shards whose sum it is, sorted."""
    documents: Count
    total_passages: Count
    """Number of passages, of at most 2,000 tokens of a document each."""
    text_bytes: Count
    tokens: Count
    types: Count
    """Number of distinct words."""
    entries: Count
    """Number of distinct pairs."""
    digest: str = Field(pattern="^[0-9a-f]{32}$")
    """Digest of the counts (see `bitcipher.counts.digest`), the sum of those of its shards."""


@dataclass(frozen=True)
class Merge:
    """A sum of segments that is to be computed, less some of their shards."""

    members: tuple[Segment, ...]
    subtracted: tuple[Segment, ...] = ()

    @property
    def name(self) -> str:
        """Name of the merged segment, a hash of the names of all operands."""
        content = " ".join([*(m.name for m in self.members), "-", *(m.name for m in self.subtracted)])
        return hashlib.sha256(content.encode()).hexdigest()[:20]

    @property
    def operands(self) -> tuple[Segment, ...]:
        """Members, followed by the subtracted shards."""
        return (*self.members, *self.subtracted)

    @property
    def shards(self) -> tuple[str, ...]:
        """Names of the shards in the result."""
        subtracted = {name for segment in self.subtracted for name in segment.shards}
        return tuple(sorted(name for member in self.members for name in member.shards if name not in subtracted))

    def total(self, field: str) -> int:
        """Return the sum of a size over the members, less the subtracted shards."""
        return sum(getattr(m, field) for m in self.members) - sum(getattr(m, field) for m in self.subtracted)

    @property
    def digest(self) -> str:
        """Digest of the result."""
        return total_digest(self.members, self.subtracted)


def total_digest(segments: Iterable[Segment], subtracted: Iterable[Segment] = ()) -> str:
    """Return the digest of a sum of segments, which does not depend on how the counts are split into segments."""
    total = CountDigest()
    for segment in segments:
        total += CountDigest.from_hex(segment.digest)
    for segment in subtracted:
        total -= CountDigest.from_hex(segment.digest)
    return total.hex()


def next_merges(segments: Iterable[Segment]) -> list[Merge]:
    """Return the merges that are due now, all of which can run at once; empty if every tier is small."""
    merges, ordered = [], sorted(segments, key=lambda segment: (segment.entries, segment.name))
    start = 0
    while start < len(ordered):
        limit = TIER * max(1, ordered[start].entries)
        tier = [segment for segment in ordered[start : start + FAN_IN] if segment.entries <= limit]
        if len(tier) >= TIER:
            merges.append(Merge(tuple(tier)))
            start += len(tier)
        else:
            start += 1
    return merges


def subtract_shards(segments: Sequence[Segment], removed: Mapping[str, Segment]) -> tuple[list[Segment], list[Merge]]:
    """Return the segments without any removed shard, and the merges that subtract removed shards from the others.

    Args:
        segments: the segments of a version.
        removed: shards to subtract, by name.
    """
    unchanged, merges = [], []
    for segment in segments:
        subtracted = tuple(removed[name] for name in segment.shards if name in removed)
        if not subtracted:
            unchanged.append(segment)
        elif len(subtracted) < len(segment.shards):
            merges.append(Merge((segment,), subtracted))
    return unchanged, merges
