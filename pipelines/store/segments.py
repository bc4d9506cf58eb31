"""Segments of a build, and the policy that decides which segments are merged.

Each shard is a segment. A merged segment is the sum of other segments, its members. As in a log-structured merge tree,
segments of similar size form a tier. A tier is merged when it has at least `TIER` segments. The number of segments
therefore stays small after many updates, and a pair is rewritten only once per tier.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field

from bitcipher.files.records import Count, Record, Strings

# Segments form a tier if the largest has at most TIER times the pairs of the smallest. A tier of at least TIER segments
# is merged. A larger number leaves more segments to read, and a smaller number writes more. With 3, a pair is rewritten
# about log₃(all pairs / pairs of an update) times.
TIER = 3

# Maximum number of segments of one merge. A merge reads two files of each segment, so it opens at most 64 files.
FAN_IN = 32


class Segment(Record):
    """Counts of some text, stored in one or more parts (see `bitcipher.counts.segment`)."""

    name: str
    """For a shard, the id of its task and its number in the task. For a merged segment, a hash of its operands."""
    parts: Strings
    """Paths of the parts relative to the build, in the order of their words."""
    part_hashes: Strings
    """SHA-256 of the file of words of each part. This file has the SHA-256 of the other files of its part."""
    shards: Strings
    """Names of the shards that the segment contains, sorted."""
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
    """Digest of the counts (see `bitcipher.counts.digest`), the sum of the digests of its shards."""


@dataclass(frozen=True)
class Merge:
    """A merge to compute: the sum of some segments, minus some of their shards."""

    members: tuple[Segment, ...]
    """Segments that are added."""
    subtracted: tuple[Segment, ...] = ()
    """Shards of the members that are subtracted."""

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
        """Return the sum of a field of `Segment` over the members, minus its sum over the subtracted shards."""
        return sum(getattr(m, field) for m in self.members) - sum(getattr(m, field) for m in self.subtracted)

    @property
    def digest(self) -> str:
        """Digest of the result."""
        return total_digest(self.members, self.subtracted)


def total_digest(segments: Iterable[Segment], subtracted: Iterable[Segment] = ()) -> str:
    """Return the digest of a sum of segments. It does not depend on how the counts are split into segments."""
    from bitcipher.counts.digest import CountDigest  # imports Arrow and numba

    total = CountDigest()
    for segment in segments:
        total += CountDigest.from_hex(segment.digest)
    for segment in subtracted:
        total -= CountDigest.from_hex(segment.digest)
    return total.hex()


def next_merges(segments: Iterable[Segment]) -> list[Merge]:
    """Return one merge per tier of at least `TIER` segments. The merges can run at the same time."""
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
    """Return the segments that have no removed shard, and the merges that subtract removed shards from the other
    segments.

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
