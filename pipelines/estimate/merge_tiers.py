"""Prediction of the merges of a build with shards of equal size."""

from collections.abc import Callable
from functools import cache

from bitcipher.counts.digest import CountDigest
from pipelines.store.segments import Merge, Segment, next_merges


def plan_merges(
    shards: int, shard_tokens: float, types: Callable[[float], float], entries: Callable[[float], float]
) -> tuple[list[tuple[Merge, Segment]], list[Segment]]:
    """Return the merges of a build with their results, in order, and its final segments.

    Args:
        shards: number of shards.
        shard_tokens: number of tokens per shard.
        types: function from a number of tokens to the number of distinct words.
        entries: function from a number of tokens to the number of distinct pairs.
    """
    unused = {"parts": (), "part_hashes": (), "shards": (), "documents": 0, "total_passages": 0, "text_bytes": 0}
    digest = CountDigest().hex()

    @cache
    def sizes(tokens: int) -> dict[str, int]:
        return {"tokens": tokens, "types": int(types(tokens)), "entries": int(entries(tokens))}

    def segment(number: int, tokens: int) -> Segment:
        return Segment(name=f"{number:09d}", digest=digest, **sizes(tokens), **unused)

    waiting = [segment(number, round(shard_tokens)) for number in range(shards)]
    done: list[tuple[Merge, Segment]] = []
    while merges := next_merges(waiting):
        names = {member.name for merge in merges for member in merge.members}
        waiting = [each for each in waiting if each.name not in names]
        for merge in merges:
            merged = segment(shards + len(done), merge.total("tokens"))
            waiting.append(merged)
            done.append((merge, merged))
    return done, waiting
