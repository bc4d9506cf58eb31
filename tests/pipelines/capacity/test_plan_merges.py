"""The merges that a plan foresees are those that a build makes."""

import pytest
from builds import OPTIONS, run_build, write_lines

from pipelines.capacity.tiers import plan_merges
from pipelines.segments import FAN_IN, Segment, next_merge


def slow_plan(shards, shard_tokens, types, entries):
    """All segments looked at each time."""

    def segment(number, tokens):
        return Segment(f"{number:09d}", (), (), 0, 0, 0, tokens, int(types(tokens)), int(entries(tokens)), "")

    waiting = [segment(number, shard_tokens) for number in range(shards)]
    merges = []
    while merge := next_merge(waiting):
        waiting = [each for each in waiting if each not in merge.members]
        waiting.append(segment(shards + len(merges), merge.total("tokens")))
        merges.append((len(merge.members), merge.total("entries"), waiting[-1].entries))
    return merges, sorted(each.entries for each in waiting)


@pytest.mark.parametrize("shards", [1, 2, 3, 31, 33, 40, 200, 700])
def test_looking_at_the_smallest_is_enough(shards):
    def types(n):
        return 10 * n**0.6

    def entries(n):
        return 20 * n**0.8

    merges, live = plan_merges(shards, 1_000_000, types, entries)
    found = [(merge.members, merge.member_entries, merge.entries) for merge in merges]
    assert (found, sorted(segment.entries for segment in live)) == slow_plan(shards, 1_000_000, types, entries)
    assert sum(segment.tokens for segment in live) == shards * 1_000_000
    assert all(merge.members <= FAN_IN for merge in merges)


def test_a_build_ends_with_as_many_segments(documents, tmp_path):
    for number in range(5):
        write_lines(tmp_path / f"{number}.jsonl", documents[number::5] + [f"a{number} " * (1 << 19)])
    manifest = run_build([tmp_path], tmp_path / "build", OPTIONS)
    shards = manifest["shards"]
    entries = sum(shard["entries"] for shard in shards) / len(shards)
    _, live = plan_merges(len(shards), 1000, lambda n: n, lambda n: entries * (n / 1000) ** 0.8)
    assert len(shards) == 5
    assert len(live) == len(manifest["segments"])
