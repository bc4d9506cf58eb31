"""Segments of a build: which there are, what they hold, and which are merged next.

Shards are the first segments. A merged segment stands for its members' sum; it is made so that reading stays cheap:
of segments about as large as one another (a tier) there are never many, as in a log-structured merge tree. So the
hundredth update finds as few segments as the first, and a pair of words is written again only once a tier.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from bitcipher.counts import CountDigest

# So many segments, none of them more than so many times as large as the smallest, are merged into one. A larger number
# would leave more to read for each version, a smaller one would write more: with 3, a pair is written again about
# log₃(all pairs / pairs of an update) times.
TIER = 3

# Segments that one merge reads at most: a part of each has two files open in turn, of 64 that may be open.
FAN_IN = 32


@dataclass(frozen=True)
class Segment:
    """Counts of some text; its parts are files below the build's folder (see `bitcipher.counts.segment`)."""

    name: str
    """Of a shard: the task's name and the shard's number in it. Of a merged one: follows from its members."""
    parts: tuple[str, ...]
    """Names below the build's folder, in the order of their words."""
    shards: tuple[str, ...]
    """The shards whose sum it is, in order."""
    documents: int
    """Documents as they were read."""
    total_passages: int
    """Passages: slices of at most 2,000 tokens of a document."""
    text_bytes: int
    tokens: int
    types: int
    """Words, each once."""
    entries: int
    """Pairs, each once."""
    digest: str
    """What the counts add up to (see `bitcipher.counts.digest`): the sum of those of the shards."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "parts": list(self.parts), "shards": list(self.shards)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Segment":
        """The segment that `to_dict` wrote."""
        names = {field.name for field in fields(cls)}
        values = {name: value for name, value in values.items() if name in names}
        return cls(**{**values, "parts": tuple(values["parts"]), "shards": tuple(values["shards"])})


@dataclass(frozen=True)
class Merge:
    """A sum to be made: some segments, without some of their shards."""

    members: tuple[Segment, ...]
    without: tuple[Segment, ...] = ()

    @property
    def name(self) -> str:
        """Follows from what is added up."""
        content = " ".join([*(m.name for m in self.members), "-", *(m.name for m in self.without)])
        return hashlib.sha256(content.encode()).hexdigest()[:20]

    @property
    def shards(self) -> tuple[str, ...]:
        """The shards whose sum comes out."""
        gone = {name for segment in self.without for name in segment.shards}
        return tuple(sorted(name for member in self.members for name in member.shards if name not in gone))

    def total(self, field: str) -> int:
        """A size, of members less what is taken out."""
        return sum(getattr(m, field) for m in self.members) - sum(getattr(m, field) for m in self.without)

    @property
    def digest(self) -> str:
        """The digest of the sum."""
        return total_digest(self.members, self.without)


def total_digest(segments: Iterable[Segment], without: Iterable[Segment] = ()) -> str:
    """What the counts of segments add up to, whatever the segments."""
    total = CountDigest()
    for segment in segments:
        total += CountDigest.from_hex(segment.digest)
    for segment in without:
        total -= CountDigest.from_hex(segment.digest)
    return total.hex()


def next_merges(segments: Iterable[Segment]) -> list[Merge]:
    """Which segments are to be merged now, all at once; none where few are about as large as one another."""
    merges, ordered = [], sorted(segments, key=lambda segment: (segment.entries, segment.name))
    place = 0
    while place < len(ordered):
        limit = TIER * max(1, ordered[place].entries)
        tier = [segment for segment in ordered[place : place + FAN_IN] if segment.entries <= limit]
        if len(tier) >= TIER:
            merges.append(Merge(tuple(tier)))
            place += len(tier)
        else:
            place += 1
    return merges


def removals(segments: Sequence[Segment], gone: dict[str, Segment]) -> tuple[list[Segment], list[Merge]]:
    """Segments that hold none of the shards that are gone, and how the others go on without them.

    Args:
        segments: those there are.
        gone: shards by name, with their own counts.
    """
    kept, merges = [], []
    for segment in segments:
        without = tuple(gone[name] for name in segment.shards if name in gone)
        if not without:
            kept.append(segment)
        elif len(without) < len(segment.shards):
            merges.append(Merge((segment,), without))
    return kept, merges
