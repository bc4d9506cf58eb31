import uuid
from bisect import bisect_right

import pytest
from hypothesis import given
from hypothesis import strategies as st
from written_segments import write_segment

from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.pairs import concatenate, iter_pairs
from bitcipher.counts.row_ranges import locate_ranges
from bitcipher.counts.segment import read_words
from bitcipher.counts.word_ranges import ALL_WORDS, ranges_from
from bitcipher.files import storage
from pipelines.merge.merge_segments import merge_segments
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.memory_budget import RangeLimits
from pipelines.store.segments import Merge

MAX_WORDS = 1 << 31

TEXTS = ["the cat sat on the mat and é sat", "a dog and a cat and no 😀 at all", "Zoo zoo 𝒳 the ﬀ the"]


@pytest.fixture(scope="module")
def parts():
    """URIs of the parts of a segment."""
    build = f"memory://{uuid.uuid4().hex}"
    segments = [write_segment(build, f"s{i}", [text.split()], ContextWindow(3)) for i, text in enumerate(TEXTS)]
    work = f"{build}/work"
    merges, limits = {"whole": Merge(tuple(segments))}, RangeLimits(12, 1000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bitcipher.counts.segment.GROUP_WORDS", 2)
        (whole,) = merge_segments(merges, build, "segments", work, limits, InProcessRuntime())
    assert len(whole.parts) > 4
    yield [f"{build}/{part}" for part in whole.parts]
    storage.remove(build)


def rows_of(blocks, word_of):
    """Return the left word and offset of each row, with its right words and their counts."""
    block = concatenate(blocks)
    ends = block.length.cumsum()
    return [
        (word_of[left], offset, block.right[end - length : end].tolist(), block.count[end - length : end].tolist())
        for left, offset, length, end in zip(*(c.tolist() for c in block[:3]), ends.tolist(), strict=True)
    ]


@given(st.sets(st.sampled_from(sorted({word for text in TEXTS for word in text.split()} | {"b", "nobody", "zzz"}))))
def test_row_ranges_contain_the_rows_of_their_words(parts, words):
    table = read_words(parts)
    word_of = dict(zip(table["number"].to_pylist(), table["word"].to_pylist(), strict=True))
    smallest = table["word"][0].as_py()
    firsts = sorted({word.encode() for word in words | {smallest} if word.encode() >= smallest.encode()})
    whole = rows_of([block for part in parts for block in iter_pairs(part, MAX_WORDS)], word_of)
    located = locate_ranges(parts, ranges_from(firsts))
    assert located.words == len(table)
    row_ranges = located.row_ranges
    assert len(row_ranges) == len(firsts)
    for index, ranges_of_words in enumerate(row_ranges):
        expected = [row for row in whole if bisect_right(firsts, row[0].encode()) - 1 == index]
        assert rows_of([row_range.read(MAX_WORDS) for row_range in ranges_of_words], word_of) == expected
        assert all(row_range.row_start < row_range.row_stop for row_range in ranges_of_words)


def test_split_row_ranges_are_the_rows(parts):
    located = locate_ranges(parts, [ALL_WORDS])
    for row_range in located.row_ranges[0]:
        blocks = [row.read(located.words) for _, row in row_range.split()]
        assert [block.offset.tolist() for block in blocks] == [[offset] for offset, _ in row_range.split()]
        for together, apart in zip(row_range.read(located.words), concatenate(blocks), strict=True):
            assert together.tolist() == apart.tolist()


def test_no_ranges_give_no_row_ranges(parts):
    assert locate_ranges(parts, []).row_ranges == []
