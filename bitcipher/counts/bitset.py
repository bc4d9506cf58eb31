"""Two-level bitset of small non-negative integers, read in ascending order and emptied in one pass.

`low` has one bit per member, and `high` has one bit per non-zero 64-bit word of `low`. Counting adds to a dense array
and records the used entries in a bitset, so the entries can be read in order without a sort.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from bitcipher.kernel_cache import kernel

_ONE = np.uint64(1)


@intrinsic
def trailing_zeros(typing_context, word):
    """Return the index of the lowest set bit of a non-zero uint64: one instruction, which numba does not offer."""

    def generate(context, builder, signature, arguments):
        int64, int1 = ir.IntType(64), ir.IntType(1)
        function = builder.module.declare_intrinsic("llvm.cttz", [int64], ir.FunctionType(int64, [int64, int1]))
        return builder.call(function, [arguments[0], ir.Constant(int1, 1)])

    return types.uint64(types.uint64), generate


@intrinsic
def bit_count(typing_context, word):
    """Return the number of set bits of a uint64: one instruction, which numba does not offer."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


def empty_set(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the arrays `low` and `high`, uint64, of an empty set whose members can be 0 … size - 1."""
    low = np.zeros((size >> 6) + 1, np.uint64)
    return low, np.zeros((len(low) >> 6) + 1, np.uint64)


@kernel(inline="always")
def insert(low, high, member):
    """Add a member to the set. It has no effect if the set contains the member."""
    low[member >> 6] |= _ONE << np.uint64(member & 63)
    high[member >> 12] |= _ONE << np.uint64((member >> 6) & 63)


@kernel
def count_before(bits):
    """Return how many bits are set in the elements before each one, (n,) int64, and in all."""
    before = np.empty(len(bits), np.int64)
    total = 0
    for i in range(len(bits)):
        before[i] = total
        total += np.int64(bit_count(bits[i]))  # pyright: ignore[reportCallIssue] (an intrinsic)
    return before, total


@kernel(inline="always")
def position_of(bits, before, number):
    """Return how many of the set bits are those of smaller numbers, given `before` from `count_before`."""
    smaller = bits[number >> 6] & ((_ONE << np.uint64(number & 63)) - _ONE)
    return before[number >> 6] + np.int64(bit_count(smaller))  # pyright: ignore[reportCallIssue]


@kernel
def drain(low, high, totals, members_out, totals_out, n):
    """Write the members to `members_out`, ascending, and their totals to `totals_out`, both from index n on.

    Members with the total 0, which occur after subtraction, are left out. The set and the totals are cleared.

    Returns:
        The index after the last written member.
    """
    for h in range(len(high)):
        upper = high[h]
        high[h] = 0
        while upper != 0:
            word = (h << 6) + np.int64(trailing_zeros(upper))  # pyright: ignore[reportCallIssue] (an intrinsic)
            upper &= upper - _ONE
            lower = low[word]
            low[word] = 0
            while lower != 0:
                member = (word << 6) + np.int64(trailing_zeros(lower))  # pyright: ignore[reportCallIssue]
                lower &= lower - _ONE
                members_out[n] = member
                totals_out[n] = totals[member]
                n += totals[member] != 0
                totals[member] = 0
    return n
