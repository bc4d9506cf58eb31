"""Fixed-point weights and sums, which do not depend on the order of addition.

Each row of sums has its own number of binary fraction digits, which depends on the count of its word. The sums of a
word at an offset (in mode sum: at all offsets) add up at most `bound` counts, each with a weight of at most 1. With

    shift = 62 - (binary digits of bound)

fraction digits, no final sum overflows 64 bits. Intermediate sums can overflow, but they wrap around and cancel. A
weight is rounded once to the digits of the row, without bias. Relative to the total of its row, each sum therefore has
an error of at most about 2**-shift: 1e-12 for a word with a million occurrences, 1e-10 for a hundred million, and 2e-8
for 5e10, the most frequent word of a trillion tokens (in mode sum, 2 · window times as much). On 47 M tokens (98,398
words, 25 bits, window 4), the logs of the sums, relative to the totals, differ from those of float64 sums by at most
8e-13.
"""

from typing import NamedTuple

import numpy as np

from bitcipher.cipher import ActiveBits

# Fraction digits of the weights before they are rounded to the digits of a row. With 60 digits, weights of at least 2⁻⁷
# are as exact as in float64.
WEIGHT_DIGITS = 60


class FixedCode(NamedTuple):
    """Codes and their weights, in the layout of the kernels.

    All words have k slots, the length of the longest code, since a loop of constant length is faster. Unused slots have
    the numbers of columns after those of the b bits and of their total, which are never read.
    """

    weights: np.ndarray  # (N,) int64, β / (number of active bits), in units of 2**-WEIGHT_DIGITS; β: `embedding.noise`
    drops: np.ndarray  # (N,) int64, digits dropped from weights in the row of each word: WEIGHT_DIGITS - shift
    sizes: np.ndarray  # (N,) int64, number of active bits
    slots: np.ndarray  # (N, k) unsigned, the active bits of each word, then unused slots: b + 1, b + 2, …


def fixed_code(codes: ActiveBits, bits: int, beta: np.ndarray, bounds: np.ndarray) -> FixedCode:
    """Return the code with rounded weights.

    Args:
        codes: the active bits of the N words.
        bits: number of bits b of the code.
        beta: (N,) float64, the weight β of each word's cipher.
        bounds: (N,) upper bound of the sum of counts in each word's row of sums, below 2⁶¹.
    """
    sizes = np.diff(codes.starts)
    longest = int(sizes.max())
    # The smallest dtype, so that the codes of frequent words stay in the cache.
    unused = np.arange(bits + 1, bits + 1 + longest, dtype=np.min_scalar_type(bits + longest))
    slots = np.tile(unused, (len(sizes), 1))
    words = np.repeat(np.arange(len(sizes)), sizes)
    slots[words, np.arange(len(codes.bits)) - codes.starts[words]] = codes.bits
    _, digits = np.frexp(np.asarray(bounds, np.float64))
    drops = np.maximum(1, WEIGHT_DIGITS - 62 + digits.astype(np.int64))
    weights = np.rint(np.ldexp(beta / sizes, WEIGHT_DIGITS)).astype(np.int64)
    return FixedCode(weights, drops, sizes, slots)
