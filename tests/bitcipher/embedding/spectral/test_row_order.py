"""Order of rows by word and offset."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bitcipher.counts.pairs import PairBlock
from bitcipher.embedding.spectral.row_order import order_rows


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(-128, 128))))
def test_rows_have_the_order_of_a_stable_sort(rows):
    left, offset = (np.array([row[field] for row in rows], dtype) for field, dtype in ((0, np.int32), (1, np.int16)))
    block = PairBlock(left, offset, np.ones(len(rows), np.int64), left, left.astype(np.int64))
    assert order_rows(block, 10).tolist() == np.lexsort((offset, left)).tolist()
