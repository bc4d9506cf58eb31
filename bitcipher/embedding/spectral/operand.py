"""`Operand`: the right factor of a product with the weighted matrix, in 16 bits per value.

Most of the time of a product is reading rows of this table, which does not fit into the cache next to the core. With 16
instead of 32 bits, a product takes about half of the time. The rounding errors are at most 1/65,534 of the largest
value of a row, and a result adds up hundreds of rows, so they have no effect on the quality of vectors.
"""

from typing import NamedTuple

import numpy as np

from bitcipher.kernel_cache import kernel

LARGEST = np.float32(np.iinfo(np.int16).max)

# Rows without a larger value become zeros, because their scale could not be divided by.
SMALLEST = np.float32(1e-30)


class Operand(NamedTuple):
    """A table whose rows are values times a scale.

    Attributes:
        values: (m, b) int16, or floats for an exact product.
        scales: (m,) float32, scale of each row.
    """

    values: np.ndarray
    scales: np.ndarray

    @classmethod
    def rounded(cls, table: np.ndarray) -> "Operand":
        """Return a table with values rounded to 16 bits, given (m, b) float32."""
        values, scales = np.empty(table.shape, np.int16), np.empty(len(table), np.float32)
        _round(table, values, scales)
        return cls(values, scales)

    @classmethod
    def exact(cls, table: np.ndarray) -> "Operand":
        """Return a table with its own values, given (m, b) floats."""
        return cls(table, np.ones(len(table), np.float32))


@kernel
def _round(table, values, scales):
    for row in range(len(table)):
        largest = np.float32(0)
        for value in table[row]:
            largest = max(largest, abs(value))
        scales[row] = largest / LARGEST
        factor = LARGEST / largest if largest > SMALLEST else np.float32(0)
        for i in range(table.shape[1]):
            values[row, i] = np.int16(np.rint(table[row, i] * factor))
