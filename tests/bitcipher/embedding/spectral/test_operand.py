"""Tables that are rounded to 16 bits."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bitcipher.embedding.spectral.operand import Operand

floats = st.floats(-(2.0**90), 2.0**90, width=32, allow_subnormal=False)


@given(arrays(np.float32, st.tuples(st.integers(0, 6), st.integers(0, 5)), elements=floats))
@settings(deadline=None)
def test_rounding_errors_are_small_compared_with_the_row(table):
    operand = Operand.rounded(table)
    assert (operand.values.dtype, operand.scales.dtype) == (np.int16, np.float32)
    rounded = operand.values * operand.scales[:, None]
    largest = np.abs(table).max(axis=1, initial=0)
    assert (np.abs(rounded - table) <= largest[:, None] / 65_000 + 1e-30).all()
    assert not rounded[largest == 0].any()
