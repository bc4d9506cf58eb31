from hypothesis import given
from hypothesis import strategies as st

from bitcipher.counts.digest import CountDigest
from pipelines.store.segments import FAN_IN, TIER, Merge, Segment, next_merges, subtract_shards, total_digest


def segment(name, entries=10, shards=None, digest=1):
    sizes = dict.fromkeys(("documents", "total_passages", "text_bytes", "tokens", "types"), entries)
    shards = (name,) if shards is None else shards
    return Segment(
        name=name,
        parts=(f"shards/{name}",),
        part_hashes=("0" * 64,),
        shards=shards,
        entries=entries,
        digest=CountDigest(digest, 2).hex(),
        **sizes,
    )


def merged(merge):
    """Return the merged segment, as large as if its members had no pair in common."""
    return segment(merge.name, merge.total("entries"), merge.shards)


def compacted(segments):
    writes = 0
    while merges := next_merges(segments):
        members = {member.name for merge in merges for member in merge.members}
        segments = [one for one in segments if one.name not in members] + [merged(merge) for merge in merges]
        writes += sum(merge.total("entries") for merge in merges)
    return segments, writes


def test_segments_are_read_back_equal():
    one = segment("a")
    assert Segment.parse(one.to_dict(), "test") == one


@given(st.lists(st.integers(0, 10**6), max_size=80))
def test_tiers_are_small_after_merging(sizes):
    segments, _ = compacted([segment(f"s{i}", size) for i, size in enumerate(sizes)])
    assert sorted(name for one in segments for name in one.shards) == sorted(f"s{i}" for i in range(len(sizes)))
    for smallest in segments:
        alike = [one for one in segments if smallest.entries <= one.entries <= TIER * max(1, smallest.entries)]
        assert len(alike) < TIER


def test_number_of_segments_is_bounded_over_updates():
    segments, counts, writes = [segment("big", 100_000)], [], 0
    for i in range(200):
        segments, written = compacted([*segments, segment(f"s{i}", 1_000)])
        counts.append(len(segments))
        writes += written
    assert max(counts) <= 9
    assert writes < 200 * 1_000 * 12  # each entry is rewritten a few times, not once per update


@given(st.lists(st.integers(0, 50), max_size=200))
def test_merges_read_at_most_fan_in_segments(sizes):
    merges = next_merges([segment(f"s{i}", size) for i, size in enumerate(sizes)])
    assert all(TIER <= len(merge.members) <= FAN_IN for merge in merges)
    members = [member.name for merge in merges for member in merge.members]
    assert len(members) == len(set(members))


def test_merge_name_depends_on_all_operands():
    a, b, c = (segment(name) for name in "abc")
    assert Merge((a, b)).name == Merge((a, b)).name
    assert len({Merge((a, b)).name, Merge((a, c)).name, Merge((a, b), (c,)).name, Merge((a,), (b,)).name}) == 4


def test_removed_shards_are_subtracted():
    shards = {name: segment(name, digest=i) for i, name in enumerate("abcd", start=1)}
    both = segment("ab", shards=("a", "b"), digest=3)
    kept, merges = subtract_shards([both, shards["c"], shards["d"]], {"a": shards["a"], "c": shards["c"]})
    assert kept == [shards["d"]]
    (merge,) = merges
    assert merge.shards == ("b",)
    assert merge.digest == CountDigest(2, 0).hex()
    assert total_digest([both], [shards["a"]]) == CountDigest(2, 0).hex()
