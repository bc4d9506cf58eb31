import uuid
from bisect import bisect_right

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from written_segments import write_segment

from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.segment import read_words
from bitcipher.counts.word_ranges import choose_ranges, sample_step, sample_words
from bitcipher.files import storage

words = st.lists(st.sampled_from([f"{letter}{i}" for letter in "aZé😀" for i in range(40)]), min_size=1, max_size=80)


@pytest.fixture(scope="module")
def build():
    uri = f"memory://{uuid.uuid4().hex}"
    yield uri
    storage.remove(uri)


@given(st.lists(words, min_size=1, max_size=4), st.integers(1, 200), st.sampled_from([None, "entries"]))
@settings(max_examples=60)
def test_ranges_hold_at_most_the_limit_or_one_word(build, texts, limit, weight):
    segments = [write_segment(build, f"s{i}", [text], ContextWindow(3)) for i, text in enumerate(texts)]
    parts = [[f"{build}/{part}" for part in segment.parts] for segment in segments]
    step = sample_step(limit, len(parts))
    ranges = choose_ranges([sample_words(each, weight, step) for each in parts], limit)
    starts = [each.start for each in ranges]
    assert starts[0] == b""
    assert starts == sorted(set(starts))
    assert [each.stop for each in ranges] == [*starts[1:], None]
    weights = [{} for _ in ranges]
    tables = [read_words(each) for each in parts]
    for table in tables:
        for row in table.to_pylist():
            index = bisect_right(starts, row["word"].encode()) - 1
            weights[index][row["word"]] = weights[index].get(row["word"], 0) + (row[weight] if weight else 1)
        assert [len(each.select(table)) for each in ranges] == [
            sum(word in found for word in table["word"].to_pylist()) for found in weights
        ]
    if limit >= 4 * len(parts):
        largest = max(max(found.values(), default=0) for found in weights)
        assert all(sum(found.values()) <= limit + largest for found in weights)


def test_parts_outside_a_range_are_not_read(build):
    texts = ["a b c".split(), "d e".split(), "x y z".split()]
    parts = [
        f"{build}/{write_segment(build, f'p{i}', [text], ContextWindow(1)).parts[0]}" for i, text in enumerate(texts)
    ]
    sample = sample_words(parts, None, 1)
    assert (sample.size, sample.part_starts) == (8, [b"a", b"d", b"x"])
    ranges = choose_ranges([sample], 3)
    assert [sample.parts_in(parts, each) for each in ranges][-1] == [parts[2]]
    assert all(sample.parts_in(parts, each) for each in ranges)
