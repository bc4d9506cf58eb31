"""Pairs of some words, found in all pairs of segments."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pair_blocks import block_of

from bitcipher import BitcipherError
from bitcipher.counts.merge import renumber
from bitcipher.counts.pairs import limit_window, select_pairs, write_pairs
from bitcipher.counts.selected_rows import iter_among, iter_selected, select_words

WORDS = 12

words = st.integers(0, WORDS - 1)
rows = st.tuples(words, st.integers(0, 5), st.dictionaries(words, st.integers(1, 2**53), min_size=1))
blocks = st.lists(st.lists(rows, max_size=8).map(block_of), max_size=12)
ranks = st.permutations(range(WORDS)).map(lambda numbers: np.minimum(np.array(numbers, np.int32), WORDS - 3))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("selected")


def found_pairs(found):
    """Return (left, offset, right, count) of all pairs of blocks, in their order."""
    result = []
    for block in found:
        lefts, offsets = (np.repeat(column, block.length).tolist() for column in block[:2])
        result += zip(lefts, offsets, block.right.tolist(), block.count.tolist(), strict=True)
    return result


@given(st.lists(st.tuples(blocks, ranks), max_size=3), st.sets(words), st.integers(1, 5), st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_pairs_are_those_selected_from_all(folder, segments, chosen, window, threads):
    parts = [[f"{folder}/{number}-{half}" for half in range(2)] for number in range(len(segments))]
    for names, (written, _) in zip(parts, segments, strict=True):
        for half, name in enumerate(names):
            write_pairs(name, iter(written[half::2]))
    selected = np.isin(np.arange(WORDS), sorted(chosen))
    ranks_of_segments = [ranks for _, ranks in segments]
    by_rank = [renumber(block, ranks) for written, ranks in segments for half in range(2) for block in written[half::2]]
    expected = [select_words(limit_window(block, window), selected) for block in by_rank]
    found = list(iter_selected(parts, ranks_of_segments, selected, window, threads))
    for side in range(2):
        assert found_pairs([each[side] for each in found]) == found_pairs([each[side] for each in expected])
    among = [select_pairs(block, selected[block.right]) for block in by_rank]
    among = [pair for pair in found_pairs(among) if pair[0] in chosen]
    assert found_pairs(iter_among(parts, ranks_of_segments, selected, threads)) == among


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([(WORDS, 1, {0: 1})], "are damaged"),
        ([(-1, 1, {0: 1})], "are damaged"),
        ([(0, 1, {WORDS: 1})], "are damaged"),
        ([(0, 1, {-1: 1})], "are damaged"),
        ([(0, 1, {1: 2**53 + 1})], "above the maximum"),
        ([(0, 1, {1: -4})], "is negative"),
    ],
)
def test_impossible_values_are_refused(tmp_path, rows, problem):
    part = f"{tmp_path}/pairs"
    write_pairs(part, iter([block_of(rows)]))
    identity, selected = np.arange(WORDS, dtype=np.int32), np.ones(WORDS, bool)
    with pytest.raises(BitcipherError, match=problem):
        list(iter_selected([[part]], [identity], selected, 5, 1))
    with pytest.raises(BitcipherError, match=problem):
        list(iter_among([[part]], [identity], selected, 1))


def test_rows_of_another_length_are_refused(tmp_path):
    part = f"{tmp_path}/pairs"
    block = block_of([(0, 1, {1: 2, 3: 4})])
    write_pairs(part, iter([block._replace(length=np.array([1]))]))
    with pytest.raises(BitcipherError, match="are damaged"):
        list(iter_selected([[part]], [np.arange(WORDS, dtype=np.int32)], np.ones(WORDS, bool), 5, 1))
