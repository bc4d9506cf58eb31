import uuid
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from written_segments import reference, write_segment

from bitcipher.counts import segment_words
from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.segment_words import cut_ranges, merge_words
from bitcipher.errors import BitcipherError
from bitcipher.files import storage

documents = st.lists(st.lists(st.sampled_from("the of a Zoo é ﬀ 😀 <oov>".split()), min_size=1), max_size=3)


@given(st.lists(documents, min_size=1, max_size=6), st.data())
@settings(max_examples=40)
def test_words_add_up(shards, data):
    without = data.draw(st.sets(st.integers(0, len(shards) - 1)))
    build = f"memory://{uuid.uuid4().hex}"
    segments = [write_segment(build, f"s{i}", texts, ContextWindow(2)) for i, texts in enumerate(shards)]
    added = [[f"{build}/{segment.parts[0]}"] for segment in segments]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segment_words, "SEGMENTS_PER_STEP", 2)
        table = merge_words(added, [added[i] for i in sorted(without)])
    storage.remove(build)
    left = [text for i, texts in enumerate(shards) if i not in without for text in texts]
    counts = reference(left, ContextWindow(2))
    names = table["word"].to_pylist()
    assert names == sorted({word for texts in shards for text in texts for word in text}, key=str.encode)
    assert table["count"].to_pylist() == [counts.words[name] for name in names]
    assert table["passages"].to_pylist() == [counts.passages[name] for name in names]
    # Number of rows and entries to read: the sum over all segments, including subtracted ones.
    sizes = Counter()
    for i, texts in enumerate(shards):
        pairs = reference(texts, ContextWindow(2)).pairs
        for left in [*(left for left, _, _ in pairs), *(left for left, _ in {pair[:2] for pair in pairs})]:
            sizes[left] += 2 if i in without else 1
    assert table["size"].to_pylist() == [sizes[name] for name in names]


def test_no_segments_raise():
    with pytest.raises(BitcipherError, match="no documents"):
        merge_words([])


@given(st.lists(st.integers(0, 50), max_size=60), st.integers(1, 100))
def test_ranges_are_consecutive_and_have_about_the_requested_size(sizes, range_size):
    ranges = cut_ranges(np.array(sizes, np.int64), range_size)
    assert [position for first, stop in ranges for position in range(first, stop)] == list(range(len(sizes)))
    for first, stop in ranges:
        assert first < stop
        assert sum(sizes[first : stop - 1]) <= range_size
    # At most twice the minimum number of ranges.
    assert len(ranges) <= 1 + 2 * sum(sizes) // range_size


def test_word_with_many_entries_exceeds_the_size_of_a_range():
    assert cut_ranges(np.array([1, 1000, 1, 1]), 10) == [(0, 2), (2, 4)]


@pytest.mark.parametrize(
    ("sizes", "ranges"),
    [
        ([1, 1000, 1, 1], [(0, 1), (1, 2), (2, 4)]),
        ([1000, 1], [(0, 1), (1, 2)]),
        ([1, 1, 8], [(0, 2), (2, 3)]),
        ([1, 1, 7], [(0, 3)]),
    ],
)
def test_a_word_above_the_maximum_is_a_range(sizes, ranges):
    assert cut_ranges(np.array(sizes), 10, 7) == ranges
