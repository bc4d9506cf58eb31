import numpy as np
import pyarrow as pa
import pytest

from bitcipher import BitcipherError
from bitcipher.counts import shard_counts
from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.pairs import concatenate
from bitcipher.counts.shard_counts import count_shard
from bitcipher.counts.tokenized_shard import TokenizedShard


def count(documents, context_window, **settings):
    counts = count_shard(TokenizedShard.from_documents(documents), context_window, **settings)
    return counts, [column.tolist() for column in concatenate(counts.pairs)]


def test_count_of_a_small_shard():
    counts, pairs = count([["b", "a", "b", "c"], [], ["b", "b"]], ContextWindow(2))
    assert counts.words.to_pylist() == ["a", "b", "c"]
    assert counts.numbers.tolist() == [1, 0, 2]
    assert counts.counts.tolist() == [1, 4, 1]
    assert counts.passages.tolist() == [1, 2, 1]
    assert counts.total_passages == 2
    left, offset, length, right, n = pairs
    assert list(zip(left, offset, length, strict=True)) == [(1, 1, 1), (1, 2, 1), (0, 1, 3), (0, 2, 1)]
    assert list(zip(right, n, strict=True)) == [(0, 1), (2, 1), (0, 1), (1, 1), (2, 1), (0, 1)]


def test_summed_count_of_a_small_shard():
    _, (left, offset, length, right, n) = count([["b", "a", "b", "c"], [], ["b", "b"]], ContextWindow(2, summed=True))
    assert list(zip(left, offset, length, strict=True)) == [(1, 0, 2), (0, 0, 3)]
    assert list(zip(right, n, strict=True)) == [(0, 1), (2, 1), (0, 2), (1, 1), (2, 1)]


def test_summed_window_of_size_1_has_offset_0():
    _, (left, offset, length, right, n) = count([["a", "b"]], ContextWindow(1, summed=True))
    assert (left, offset, length, right, n) == ([0], [0], [1], [1], [1])


@pytest.mark.parametrize("documents", [[], [[]], [[], []], [["alone"]], [["alone"], [], ["another"]]])
@pytest.mark.parametrize("summed", [False, True])
def test_documents_without_two_words_have_no_pairs(documents, summed):
    counts, pairs = count(documents, ContextWindow(5, summed))
    assert counts.total_passages == sum(map(len, documents))
    assert pairs == [[]] * 5


def test_words_that_do_not_occur_are_not_counted():
    tokens = TokenizedShard(
        pa.array(["z", "unseen", "a", "never"], pa.large_string()), np.array([2, 0, 2], np.int32), np.array([3])
    )
    counts = count_shard(tokens, ContextWindow(1))
    assert counts.words.to_pylist() == ["a", "z"]
    assert counts.counts.tolist() == [2, 1]
    assert counts.passages.tolist() == [1, 1]
    assert [column.tolist() for column in concatenate(counts.pairs)] == [[0, 1], [1, 1], [1, 1], [1, 0], [1, 1]]


def test_blocks_have_the_documented_types():
    counts = count_shard(TokenizedShard.from_documents([["a", "b"] * 30]), ContextWindow(3))
    for block in counts.pairs:
        assert [column.dtype for column in block] == [np.int32, np.int16, np.int64, np.int32, np.int64]
    assert counts.numbers.dtype == np.int32
    assert counts.counts.dtype == counts.passages.dtype == np.int64


def test_block_size_does_not_change_the_rows():
    documents = [[chr(97 + number * number % 23) for number in range(200)], list("abcabcabd")]
    whole, cut = (
        list(count_shard(TokenizedShard.from_documents(documents), ContextWindow(4), block_entries=entries).pairs)
        for entries in (10**6, 30)
    )
    assert len(whole) == 1
    assert len(cut) > 5
    assert all(len(block.right) <= 30 for block in cut)
    for one, other in zip(concatenate(whole), concatenate(cut), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.long
def test_a_pair_may_occur_more_than_2_to_the_31_times():
    tokens = 16_900_000
    repeated = TokenizedShard(pa.array(["buffalo"], pa.large_string()), np.zeros(tokens, np.int32), np.array([tokens]))
    pairs = concatenate(count_shard(repeated, ContextWindow(128, summed=True)).pairs)
    assert pairs.count.tolist() == [sum(tokens - offset for offset in range(1, 129))]
    assert pairs.count[0] > 2**31


def test_carried_tokens_are_only_context():
    # "x" is outside every window. "a" is only carried, but it precedes "b" and "c".
    counts, pairs = count([["x", "b", "a", "b", "c"], ["a", "b"]], ContextWindow(2), carried=3)
    assert counts.words.to_pylist() == ["a", "b", "c"]
    assert counts.counts.tolist() == [1, 2, 1]
    assert counts.passages.tolist() == [1, 2, 1]
    assert counts.total_passages == 2
    assert counts.numbers.tolist() == [1, 0, 2]
    left, offset, length, right, n = pairs
    assert list(zip(left, offset, length, strict=True)) == [(1, 1, 1), (1, 2, 1), (0, 1, 1), (0, 2, 1)]
    assert list(zip(right, n, strict=True)) == [(0, 2), (2, 1), (2, 1), (0, 1)]


def test_words_among_carried_tokens_only_have_count_0():
    counts, _ = count([["a", "b"]], ContextWindow(1), carried=1)
    assert counts.words.to_pylist() == ["a", "b"]
    assert counts.counts.tolist() == [0, 1]
    assert counts.passages.tolist() == [0, 1]
    assert counts.numbers.tolist() == [1, 0]


@pytest.mark.parametrize("summed", [False, True])
def test_carried_tokens_without_following_tokens_are_not_counted(summed):
    counts, pairs = count([["a", "b", "a"], ["c"]], ContextWindow(2, summed), carried=3)
    assert counts.words.to_pylist() == ["c"]
    assert counts.total_passages == 1
    assert pairs == [[]] * 5


@pytest.mark.parametrize("documents", [[], [["a"], ["b"] * 9]])
def test_more_carried_tokens_than_the_first_document_raises(documents):
    with pytest.raises(BitcipherError, match="first document has fewer"):
        count(documents, ContextWindow(1), carried=2)


def test_too_many_positions_raise(monkeypatch):
    monkeypatch.setattr(shard_counts, "MAX_POSITIONS", 10)
    assert count([["a"] * 7], ContextWindow(1))[0].counts.tolist() == [7]
    with pytest.raises(BitcipherError, match="shard of 8 tokens is too large"):
        count([["a"] * 8], ContextWindow(1))
