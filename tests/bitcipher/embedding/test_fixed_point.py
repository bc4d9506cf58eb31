import numpy as np
import pytest

from bitcipher.cipher import BitCipher
from bitcipher.embedding.fixed_point import WEIGHT_DIGITS, fixed_code


def code_of(bounds, bits=3, beta=1.0):
    bounds = np.asarray(bounds)
    return fixed_code(BitCipher(bits).active_bits(len(bounds)), bits, np.full(len(bounds), beta), bounds)


@pytest.mark.parametrize("bound", [0, 1, 2, 3, 4, 7, 8, 1_000, 2**31, 5 * 10**10, 2**53 + 1, 2**58])
def test_maximum_rows_do_not_overflow_and_use_all_digits(bound):
    (drop,) = code_of([bound]).drops.tolist()
    maximum = bound << (WEIGHT_DIGITS - drop)
    assert maximum < 2**63 - bound  # even if each weight is rounded up by half a unit
    assert maximum >= 2**61 or bound < 4


def test_weights_are_beta_per_active_bit():
    code = code_of([10] * 7, beta=0.25)
    assert code.sizes.tolist() == [1, 1, 1, 2, 2, 2, 3]
    np.testing.assert_array_equal(code.weights[:6] * 2.0**-WEIGHT_DIGITS, [0.25] * 3 + [0.125] * 3)
    assert code.weights[6] == round(2**WEIGHT_DIGITS / 12)


def test_slots_are_active_bits_then_unused_columns():
    assert code_of([10] * 7).slots.tolist() == [
        *([bit, 5, 6] for bit in range(3)),
        *([*bits, 6] for bits in ([1, 2], [0, 2], [0, 1])),
        [0, 1, 2],
    ]


@pytest.mark.parametrize(("bits", "dtype"), [(200, np.uint8), (300, np.uint16), (70_000, np.uint32)])
def test_slots_have_the_smallest_dtype(bits, dtype):
    assert code_of([1, 1], bits).slots.dtype == dtype
