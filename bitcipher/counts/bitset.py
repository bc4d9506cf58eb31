"""A set of small whole numbers that can be read in ascending order and emptied in one walk.

Two levels of 64-bit words: a bit in `low` for each member, a bit in `high` for each word of `low` that is not
empty. Beside a dense array of counts this sorts the members without a sort, which is what makes counting fast.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

_ONE = np.uint64(1)


@intrinsic
def trailing_zeros(typing_context, word):
    """The place of the lowest bit set in a uint64 that is not 0: one instruction, which numba does not offer."""

    def generate(context, builder, signature, arguments):
        int64, int1 = ir.IntType(64), ir.IntType(1)
        function = builder.module.declare_intrinsic("llvm.cttz", [int64], ir.FunctionType(int64, [int64, int1]))
        return builder.call(function, [arguments[0], ir.Constant(int1, 1)])

    return types.uint64(types.uint64), generate


def empty_set(size: int) -> tuple[np.ndarray, np.ndarray]:
    """`low` and `high` of an empty set over 0 … size - 1."""
    low = np.zeros((size >> 6) + 1, np.uint64)
    return low, np.zeros((len(low) >> 6) + 1, np.uint64)


@njit(cache=True, nogil=True, inline="always")
def insert(low, high, member):
    """Put a member in."""
    low[member >> 6] |= _ONE << np.uint64(member & 63)
    high[member >> 12] |= _ONE << np.uint64((member >> 6) & 63)


@njit(cache=True, nogil=True)
def drain(low, high, totals, members_out, totals_out, n):
    """Write the members, ascending, and their totals at n, n + 1, …; empty the set and zero the totals.

    A member whose total is 0, since what was added was subtracted again, is left out.

    Returns the place behind the last one written.
    """
    for h in range(len(high)):
        upper = high[h]
        high[h] = 0
        while upper != 0:
            word = (h << 6) + np.int64(trailing_zeros(upper))
            upper &= upper - _ONE
            lower = low[word]
            low[word] = 0
            while lower != 0:
                member = (word << 6) + np.int64(trailing_zeros(lower))
                lower &= lower - _ONE
                members_out[n] = member
                totals_out[n] = totals[member]
                n += totals[member] != 0
                totals[member] = 0
    return n
