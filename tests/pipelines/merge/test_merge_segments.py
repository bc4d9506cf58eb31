"""Sums and differences of segments, compared with plain counters of the remaining documents."""

import uuid
from itertools import chain, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from written_segments import digest_of, read_counts, reference, write_segment

import bitcipher.counts.merge
from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.segment import part_files, read_words
from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from pipelines.merge import large_words, row_stage
from pipelines.merge.merge_progress import MergeProgress
from pipelines.merge.merge_segments import merge_segments
from pipelines.merge.row_stage import MergeStage
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.memory_budget import RangeLimits
from pipelines.store.segments import Merge

WORDS = "the of cat Zoo zoo é ﬀ 𝒳 😀 <oov> a b c d".split()

documents = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=25), max_size=4)
context_windows = st.builds(ContextWindow, st.integers(1, 4), st.booleans())


def merged(build, merge, name, range_size=7, range_words=1 << 30, **more):
    merges, limits = {name: merge}, RangeLimits(range_size, range_words)
    (segment,) = merge_segments(merges, build, "segments", f"{build}/work", limits, InProcessRuntime(), **more)
    return segment


@pytest.mark.long
@given(st.lists(documents, min_size=2, max_size=5), st.data(), context_windows, st.integers(1, 60), st.integers(1, 60))
@settings(max_examples=30)
def test_sums_and_differences_are_exact(shards, data, context_window, range_size, range_words):
    build = f"memory://{uuid.uuid4().hex}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bitcipher.counts.segment.GROUP_WORDS", data.draw(st.integers(1, 20)))
        patch.setattr(row_stage, "BLOCK_ENTRIES", data.draw(st.integers(1, 20)))
        patch.setattr(large_words, "INTERVALS", data.draw(st.integers(1, 20)))
        segments = [write_segment(build, f"s{i}", texts, context_window) for i, texts in enumerate(shards)]
        whole = merged(build, Merge(tuple(segments)), "whole", range_size, range_words)
    assert read_counts(build, whole) == reference([text for texts in shards for text in texts], context_window)
    assert whole.digest == digest_of(build, whole.parts, whole.total_passages)

    removed = data.draw(st.sets(st.integers(0, len(shards) - 1), max_size=len(shards) - 1))
    rest = Merge((whole,), tuple(segments[i] for i in sorted(removed)))
    left = merged(build, rest, "left", range_size, range_words)
    kept = [text for i, texts in enumerate(shards) if i not in removed for text in texts]
    assert read_counts(build, left) == reference(kept, context_window)
    assert left.digest == digest_of(build, left.parts, left.total_passages)
    assert left.shards == tuple(f"s{i}" for i in range(len(shards)) if i not in removed)
    assert (left.tokens, left.documents) == (sum(map(len, kept)), len(kept))
    storage.remove(build)


@pytest.fixture
def build():
    uri = f"memory://{uuid.uuid4().hex}"
    yield uri
    storage.remove(uri)


@pytest.fixture
def segments(build):
    texts = ["the cat of the zoo", "a b c d e f g a b c", "the zoo of é and the cat", "c a t"]
    return [write_segment(build, f"s{i}", [text.split()], ContextWindow(2)) for i, text in enumerate(texts)]


def test_parts_are_consecutive_ranges_of_words(build, segments):
    whole = merged(build, Merge(tuple(segments)), "whole", range_size=5)
    words = [read_words([f"{build}/{part}"])["word"].to_pylist() for part in whole.parts]
    assert len(words) > 3
    assert all(one[-1].encode() < other[0].encode() for one, other in pairwise(words))


def test_ranges_are_limited_by_rows_and_entries(build, segments):
    whole = merged(build, Merge(tuple(segments)), "whole", range_size=12)
    for part in whole.parts:
        table = read_words([f"{build}/{part}"])
        sizes = table["rows"].to_numpy() + table["entries"].to_numpy()
        assert sizes[:-1].sum() <= 12


def test_pairs_of_a_large_word_are_merged_in_pieces(build, monkeypatch):
    context_window, size = ContextWindow(2), 24
    texts = [[["the", f"{i % 10}", "the", f"{i}"] for i in range(start, start + 60)] for start in (0, 30, 60)]
    segments = [write_segment(build, f"s{i}", documents, context_window) for i, documents in enumerate(texts)]
    whole = merged(build, Merge(tuple(segments)), "whole", range_size=1 << 20)
    held = []

    def merge_rows(blocks, *arguments):
        held.append(sum(len(block.right) + len(block.left) for block in blocks))
        return bitcipher.counts.merge.merge_rows(blocks, *arguments)

    monkeypatch.setattr(row_stage, "merge_rows", merge_rows)
    monkeypatch.setattr(row_stage, "BLOCK_ENTRIES", 5)
    in_pieces = merged(build, Merge(tuple(segments)), "pieces", size)
    assert sum(held) > 10 * size
    assert max(held) <= 1.5 * size
    assert read_counts(build, in_pieces) == read_counts(build, whole) == reference([*chain(*texts)], context_window)
    assert in_pieces.digest == whole.digest
    # What is left after a subtraction is in rows that were cut, and is added up in pieces, too.
    held.clear()
    left = merged(build, Merge((in_pieces,), tuple(segments[1:])), "left", size)
    assert read_counts(build, left) == reference(texts[0], context_window)
    assert max(held) <= 1.5 * size


def test_a_large_word_that_is_subtracted_completely_is_left_out(build):
    texts = [["a b".split()], [["the", f"{i}"] for i in range(40)]]
    segments = [write_segment(build, f"s{i}", documents, ContextWindow(1)) for i, documents in enumerate(texts)]
    whole = merged(build, Merge(tuple(segments)), "whole")
    left = merged(build, Merge((whole,), (segments[1],)), "left", range_size=8)
    assert read_counts(build, left) == reference(texts[0], ContextWindow(1))


def test_numbers_are_ranks(build, segments):
    whole = merged(build, Merge(tuple(segments)), "whole")
    table = read_words([f"{build}/{part}" for part in whole.parts]).sort_by("number")
    rows = list(zip(table["count"].to_pylist(), table["word"].to_pylist(), strict=True))
    assert rows == sorted(rows, key=lambda row: (-row[0], row[1].encode()))
    assert rows[0] == (4, "the")


def test_order_of_merges_does_not_change_counts(build, segments):
    at_once = merged(build, Merge(tuple(segments)), "whole", range_size=1000)
    first = merged(build, Merge(tuple(segments[2:])), "first", range_size=3)
    in_steps = merged(build, Merge((first, segments[1], segments[0])), "steps", range_size=4)
    assert len(at_once.parts) == 1 < len(in_steps.parts)
    assert read_counts(build, at_once) == read_counts(build, in_steps)
    assert at_once.digest == in_steps.digest


class Recording(MergeProgress):
    """Notes what merges call."""

    def __init__(self):
        self.words, self.ranges, self.seen = 0.0, 0, []

    def on_words(self, share):
        self.words += share

    def on_ranges(self, ranges):
        self.ranges = ranges

    def on_range(self, result):
        self.seen.append((result.value.index, result.value.was_done))


def test_recorded_ranges_are_not_merged_again(build, segments, monkeypatch):
    shown = Recording()
    output = {"ledger": f"{build}/ledger", "progress": shown}
    first = merged(build, Merge(tuple(segments)), "whole", **output)
    n_ranges = len(first.parts)
    assert shown.ranges == n_ranges
    assert shown.seen == [(i, False) for i in range(n_ranges)]
    assert 0 < shown.words <= 1.000001
    monkeypatch.setattr(MergeStage, "_write", None)  # merging again would fail
    assert merged(build, Merge(tuple(segments)), "whole", **output) == first
    assert shown.seen[n_ranges:] == [(i, True) for i in range(n_ranges)]


def test_temporary_files_are_removed(build, segments):
    merged(build, Merge(tuple(segments)), "whole")
    assert {name.split("/")[0] for name in storage.list_files(build)} == {"shards", "segments"}


class RepeatingRuntime(InProcessRuntime):
    """Runtime that processes each input twice, as if a worker had died after it had written its output."""

    def stream(self, spec, inputs):
        for item in inputs:
            assert len(list(super().stream(spec, [item]))) == 1
            yield from super().stream(spec, [item])


def test_stages_can_be_repeated(build, segments):
    merges = {"whole": Merge(tuple(segments))}
    (whole,) = merge_segments(merges, build, "segments", f"{build}/work", RangeLimits(9, 9), RepeatingRuntime())
    assert read_counts(build, whole) == read_counts(build, merged(build, Merge(tuple(segments)), "once"))


def test_concurrent_merges_equal_sequential_ones(build, segments):
    merges = {"one": Merge(tuple(segments[:2])), "other": Merge(tuple(segments[2:])), "both": Merge(tuple(segments))}
    found = merge_segments(merges, build, "segments", f"{build}/work", RangeLimits(5, 9), InProcessRuntime())
    assert [segment.name for segment in found] == list(merges)
    for segment in found:
        alone = merged(build, merges[segment.name], f"{segment.name}-alone", 5)
        assert read_counts(build, segment) == read_counts(build, alone)
        assert segment.digest == digest_of(build, segment.parts, segment.total_passages)


def test_merge_resumed_with_another_budget_gives_the_same_counts(build, segments):
    ledger = f"{build}/ledger"
    whole = merged(build, Merge(tuple(segments)), "whole", range_size=4, ledger=ledger)
    again = merged(build, Merge(tuple(segments)), "whole", range_size=60, ledger=ledger)
    assert len(again.parts) < len(whole.parts)
    assert read_counts(build, again) == read_counts(build, whole)


def test_operand_with_the_counts_of_another_segment_raises(build, segments):
    for own, other in zip(
        part_files(f"{build}/{segments[1].parts[0]}"), part_files(f"{build}/{segments[2].parts[0]}"), strict=True
    ):
        with storage.reading(other) as stream, storage.writing(own) as target:
            target.write(stream.read())
    with pytest.raises(BitcipherError, match="not the file that was written under this name"):
        merged(build, Merge(tuple(segments[:3])), "whole")


def test_operand_with_another_digest_raises(build, segments):
    other = segments[1].copy_with(digest=segments[2].digest)
    with pytest.raises(BitcipherError, match=r"s0, s1, s2 .*another digest"):
        merged(build, Merge((segments[0], other, segments[2])), "whole")
