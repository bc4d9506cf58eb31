"""The predicted merges equal those of a build."""

import pytest
from builds import OPTIONS, run_build, write_lines

from pipelines.estimate.merge_tiers import plan_merges
from pipelines.store.segments import FAN_IN, Segment, next_merges


def merges_of_a_job(shards, shard_tokens, types, entries):
    """Return the merges of a job with segments of these sizes, and the pairs of its final segments."""

    def segment(number, tokens):
        none = dict.fromkeys(("documents", "total_passages", "text_bytes"), 0)
        sizes = {"tokens": tokens, "types": int(types(tokens)), "entries": int(entries(tokens))}
        return Segment(name=f"{number:09d}", parts=(), part_hashes=(), shards=(), digest="0" * 32, **none, **sizes)

    waiting, found = [segment(number, shard_tokens) for number in range(shards)], []
    while merges := next_merges(waiting):
        waiting = [each for each in waiting if not any(each in merge.members for merge in merges)]
        for merge in merges:
            waiting.append(segment(shards + len(found), merge.total("tokens")))
            found.append((len(merge.members), merge.total("entries"), waiting[-1].entries))
    return found, sorted(each.entries for each in waiting)


@pytest.mark.parametrize("shards", [1, 2, 3, 31, 33, 40, 200, 700])
def test_predicted_merges_equal_those_of_a_job(shards):
    def types(n):
        return 10 * n**0.6

    def entries(n):
        return 20 * n**0.8

    merges, live = plan_merges(shards, 1_000_000, types, entries)
    found = [(len(merge.members), merge.total("entries"), merged.entries) for merge, merged in merges]
    assert (found, sorted(segment.entries for segment in live)) == merges_of_a_job(shards, 1_000_000, types, entries)
    assert sum(segment.tokens for segment in live) == shards * 1_000_000
    assert all(len(merge.members) <= FAN_IN for merge, _ in merges)


def test_predicted_number_of_segments_equals_that_of_a_build(documents, tmp_path):
    (tmp_path / "corpus").mkdir()
    for number in range(5):
        write_lines(tmp_path / "corpus" / f"{number}.jsonl", documents[number::5] + [f"a{number} " * (1 << 19)])
    manifest = run_build([tmp_path / "corpus"], tmp_path / "build", OPTIONS)
    shards = manifest["shards"]
    entries = sum(shard["entries"] for shard in shards) / len(shards)
    _, live = plan_merges(len(shards), 1000, lambda n: n, lambda n: entries * (n / 1000) ** 0.8)
    assert len(shards) == 5
    assert len(live) == len(manifest["segments"])
