"""Transposed pair counts."""

import numpy as np

from bitcipher.counts.pairs import PairBlock
from bitcipher.embedding.spectral.transpose import transpose


def test_transpose_sorts_rows_and_negates_offsets():
    # a precedes b twice, c once, and c at offset 2 three times; c precedes a four times.
    block = PairBlock(
        np.array([0, 0, 2], np.int32),
        np.array([1, 2, 1], np.int16),
        np.array([2, 1, 1]),
        np.array([1, 2, 2, 0], np.int32),
        np.array([2, 1, 3, 4]),
    )
    transposed = transpose(block, 3)
    assert transposed.left.tolist() == [0, 1, 2, 2]
    assert transposed.offset.tolist() == [-1, -1, -1, -2]
    assert transposed.length.tolist() == [1, 1, 1, 1]
    assert transposed.right.tolist() == [2, 0, 0, 0]
    assert transposed.count.tolist() == [4, 2, 1, 3]
    assert [column.dtype for column in transposed] == [column.dtype for column in block]


def test_transpose_of_an_empty_block_is_empty():
    empty = PairBlock(*(np.empty(0, dtype) for dtype in (np.int32, np.int16, np.int64, np.int32, np.int64)))
    assert len(transpose(empty, 5).left) == 0
