from itertools import islice

import numpy as np
from pair_blocks import block_of

from bitcipher.counts.merge import merge_rows, negate, renumber


def as_rows(block):
    pairs = iter(zip(block.right.tolist(), block.count.tolist(), strict=True))
    rows = zip(block.left.tolist(), block.offset.tolist(), block.length.tolist(), strict=True)
    return [(left, offset, dict(islice(pairs, length))) for left, offset, length in rows]


def test_renumber_replaces_numbers_by_ranks():
    block = block_of([(0, 1, {0: 1, 2: 3}), (2, 2, {1: 4})])
    assert as_rows(renumber(block, np.array([5, 7, 6], np.int32))) == [(5, 1, {5: 1, 6: 3}), (6, 2, {7: 4})]


def test_merge_adds_equal_rows_and_separates_oov():
    # Rank 1 is <oov>. The order of the other words by bytes is 3, 0, 2.
    blocks = [
        block_of([(0, 1, {2: 1, 0: 2}), (1, 1, {3: 4}), (3, 2, {1: 5}), (3, 1, {1: 6})]),
        block_of([(1, 1, {3: 1}), (0, 1, {3: 1, 2: 1}), (1, 2, {0: 2}), (1, 1, {0: 7})]),
    ]
    words, oov = merge_rows(blocks, np.array([2, 0, 3, 1]), oov_rank=1)
    assert as_rows(words) == [(3, 1, {1: 6}), (3, 2, {1: 5}), (0, 1, {0: 2, 2: 2, 3: 1})]
    assert as_rows(oov) == [(1, 1, {0: 7, 3: 5}), (1, 2, {0: 2})]
    for _, _, pairs in as_rows(words) + as_rows(oov):
        assert list(pairs) == sorted(pairs)


def test_merge_adds_right_words_that_were_mapped_to_oov():
    block = renumber(block_of([(0, 0, {0: 1, 1: 2, 2: 4, 3: 8})]), np.array([0, 1, 1, 1], np.int32))
    words, oov = merge_rows([block], np.array([1, 0]), oov_rank=1)
    assert as_rows(words) == [(0, 0, {0: 1, 1: 14})]
    assert as_rows(oov) == []


def test_merge_removes_pairs_and_rows_with_sum_zero():
    one = block_of([(0, 1, {0: 1, 2: 2**62}), (2, 1, {1: 3}), (1, 2, {1: 4})])
    other = block_of([(0, 1, {2: 2**62}), (2, 1, {1: 3}), (1, 2, {1: 4, 2: 5})])
    words, oov = merge_rows([one, negate(other)], np.array([0, 1, 2]), oov_rank=1)
    assert as_rows(words) == [(0, 1, {0: 1})]
    assert as_rows(oov) == [(1, 2, {2: -5})]


def test_merge_of_nothing_is_empty():
    for blocks in ([], [block_of([])]):
        for merged in merge_rows(blocks, np.array([0, 1]), oov_rank=0):
            assert [len(column) for column in merged] == [0] * 5
            assert [column.dtype for column in merged] == [np.int32, np.int16, np.int64, np.int32, np.int64]


def test_merge_is_exact_beyond_32_bits_and_float_precision():
    large = [2**31 - 1, 2**31, 2**53, 2**53 + 1, 2**60 + 1]
    blocks = [block_of([(0, 1, {0: n, 1: 1}), (1, 1, {1: n})]) for n in large]
    words, oov = merge_rows(blocks, np.array([0, 1]), oov_rank=1)
    assert as_rows(words) == [(0, 1, {0: sum(large), 1: 5})]
    assert as_rows(oov) == [(1, 1, {1: sum(large)})]
    assert float(sum(large)) != sum(large)
