"""Prediction of the merges of a build with shards of equal size."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from bitcipher.counts.digest import CountDigest
from pipelines.store.segments import Segment, next_merges


@dataclass(frozen=True)
class MergeSize:
    """Sizes of one merge."""

    members: int
    """Number of segments that are merged (the members)."""
    member_types: int
    """Sum of the numbers of distinct words of the members."""
    member_entries: int
    """Sum of the numbers of distinct pairs of the members."""
    types: int
    """Number of distinct words of the merged segment."""
    entries: int
    """Number of distinct pairs of the merged segment."""


def plan_merges(
    shards: int, shard_tokens: float, types: Callable[[float], float], entries: Callable[[float], float]
) -> tuple[list[list[MergeSize]], list[Segment]]:
    """Return the merges of a build, round by round, and its final segments.

    Args:
        shards: number of shards.
        shard_tokens: number of tokens per shard.
        types: function from a number of tokens to the number of distinct words.
        entries: function from a number of tokens to the number of distinct pairs.
    """
    unused = {"parts": (), "part_hashes": (), "shards": (), "documents": 0, "total_passages": 0, "text_bytes": 0}
    digest = CountDigest().hex()

    @cache
    def sizes(tokens: int) -> tuple[int, int]:
        return int(types(tokens)), int(entries(tokens))

    def segment(number: int, tokens: int) -> Segment:
        words, pairs = sizes(tokens)
        return Segment(name=f"{number:09d}", tokens=tokens, types=words, entries=pairs, digest=digest, **unused)

    waiting = [segment(number, round(shard_tokens)) for number in range(shards)]
    segment_count = shards
    rounds = []
    while merges := next_merges(waiting):
        names = {member.name for merge in merges for member in merge.members}
        waiting = [each for each in waiting if each.name not in names]
        sizes_of_round = []
        for merge in merges:
            merged = segment(segment_count, merge.total("tokens"))
            segment_count += 1
            waiting.append(merged)
            sizes_of_round.append(
                MergeSize(
                    members=len(merge.members),
                    member_types=merge.total("types"),
                    member_entries=merge.total("entries"),
                    types=merged.types,
                    entries=merged.entries,
                )
            )
        rounds.append(sizes_of_round)
    return rounds, waiting
