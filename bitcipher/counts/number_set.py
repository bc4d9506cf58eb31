"""`NumberSet`: some of the numbers from 0 to V - 1, and the position of each among them.

A range of words has pairs with a part of all words. With the positions of their numbers in place of the numbers, arrays
of totals have one element per word of the range instead of one per word of the corpus.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from bitcipher.counts.bitset import count_before, position_of, trailing_zeros
from bitcipher.kernel_cache import kernel

_ONE = np.uint64(1)


class NumberSet(NamedTuple):
    """Set of word numbers, which takes 2 bits per number below the largest possible one.

    Attributes:
        bits: (V / 64 + 1,) uint64, one bit per number.
        before: (V / 64 + 1,) int64, how many members the preceding elements of `bits` have.
        members: (n,) int32, the members, ascending.
    """

    bits: np.ndarray
    before: np.ndarray
    members: np.ndarray

    @classmethod
    def of(cls, numbers: Iterable[np.ndarray], size: int) -> "NumberSet":
        """Return the set of the numbers in arrays.

        Args:
            numbers: int32 arrays of numbers from 0 to `size` - 1, in any order.
            size: number of possible numbers, V.
        """
        bits = np.zeros((size >> 6) + 1, np.uint64)
        for array in numbers:
            _insert(bits, array)
        return cls(bits, *_list_members(bits))

    def positions(self, numbers: np.ndarray) -> np.ndarray:
        """Return the position of each number among the members, int32. All numbers must be members."""
        return _positions(self.bits, self.before, numbers)


@kernel
def _insert(bits, numbers):
    for number in numbers:
        bits[number >> 6] |= _ONE << np.uint64(number & 63)


@kernel
def _list_members(bits):
    before, total = count_before(bits)
    members = np.empty(total, np.int32)
    n = 0
    for i in range(len(bits)):
        left = bits[i]
        while left != 0:
            members[n] = (i << 6) + np.int64(trailing_zeros(left))  # pyright: ignore[reportCallIssue]
            left &= left - _ONE
            n += 1
    return before, members


@kernel
def _positions(bits, before, numbers):
    found = np.empty(len(numbers), np.int32)
    for i in range(len(numbers)):
        found[i] = position_of(bits, before, numbers[i])
    return found
