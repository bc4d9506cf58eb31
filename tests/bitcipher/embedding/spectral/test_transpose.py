"""Pairs from their other end."""

import numpy as np

from bitcipher.counts import PairBlock
from bitcipher.embedding.spectral import mirror


def test_rows_are_in_order_and_offsets_turned_round():
    # a stands before b twice and before c once; two before c three times; c before a four times.
    block = PairBlock(
        np.array([0, 0, 2], np.int32),
        np.array([1, 2, 1], np.int16),
        np.array([2, 1, 1]),
        np.array([1, 2, 2, 0], np.int32),
        np.array([2, 1, 3, 4]),
    )
    turned = mirror(block, 3)
    assert turned.left.tolist() == [0, 1, 2, 2]
    assert turned.offset.tolist() == [-1, -1, -1, -2]
    assert turned.length.tolist() == [1, 1, 1, 1]
    assert turned.right.tolist() == [2, 0, 0, 0]
    assert turned.count.tolist() == [4, 2, 1, 3]
    assert [column.dtype for column in turned] == [column.dtype for column in block]


def test_nothing_mirrored_is_nothing():
    empty = PairBlock(*(np.empty(0, dtype) for dtype in (np.int32, np.int16, np.int64, np.int32, np.int64)))
    assert len(mirror(empty, 5).left) == 0
