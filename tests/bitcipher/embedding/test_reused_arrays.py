"""Arrays that share memory with earlier ones."""

import numpy as np

from bitcipher.embedding.reused_arrays import ReusedArrays


def test_arrays_of_a_name_share_memory_and_grow():
    arrays = ReusedArrays()
    assert arrays.empty("counts", 0, np.int64).shape == (0,)
    first = arrays.empty("counts", 8, np.int64)
    first[:] = 7
    assert np.shares_memory(first, arrays.empty("counts", 5, np.int64))
    assert not np.shares_memory(first, arrays.empty("lengths", 8, np.int64))
    larger = arrays.empty("counts", 9, np.int64)
    assert (larger.shape, larger.dtype) == ((9,), np.int64)
    assert not np.shares_memory(first, larger)
    assert (first == 7).all()
