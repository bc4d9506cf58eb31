"""`Incidence`: which words have which n-grams, and products with this matrix of zeros and ones."""

from typing import NamedTuple

import numpy as np

from bitcipher.kernel_cache import kernel
from bitcipher.spelling.ngrams import NgramLists


class Incidence(NamedTuple):
    """Matrix of zeros and ones in compressed rows.

    Attributes:
        starts: (rows + 1,) int64, the start of each row's ones.
        indices: (ones,) int32, their columns, ascending per row.
        columns: number of columns.
    """

    starts: np.ndarray
    indices: np.ndarray
    columns: int

    def multiply(self, table: np.ndarray) -> np.ndarray:
        """Return the sum of the table's rows at the ones of each row, in their order, (rows, b) float32.

        Args:
            table: (columns, b) float32.
        """
        result = np.empty((len(self.starts) - 1, table.shape[1]), np.float32)
        _add_rows(self.starts, self.indices, np.ascontiguousarray(table), result)
        return result

    def transpose(self) -> "Incidence":
        """Return the transposed matrix."""
        starts, rows = _transpose(self.starts, self.indices, self.columns)
        return Incidence(starts, rows, len(self.starts) - 1)


class NgramIndex(NamedTuple):
    """Known n-grams, which are found by the first bits of their hashes: about one has the same bits.

    Attributes:
        hashes: (g,) int64, ascending.
        starts: (b + 1,) int64, the first n-gram for each value of these bits, and g.
        shift: number of the other bits.
    """

    hashes: np.ndarray
    starts: np.ndarray
    shift: int

    @classmethod
    def of_hashes(cls, hashes: np.ndarray) -> "NgramIndex":
        """Return the index of hashes, (g,) int64, ascending."""
        bits = max(1, len(hashes).bit_length())
        sizes = np.bincount((hashes >> (64 - bits)) + (1 << (bits - 1)), minlength=1 << bits)
        return cls(hashes, np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)]), 64 - bits)


def find_incidence(ngrams: NgramLists, known: NgramIndex) -> Incidence:
    """Return the matrix with a row per word and a column per known n-gram.

    Args:
        ngrams: n-grams of the words.
        known: the known n-grams.
    """
    starts, columns = _find(ngrams.starts, ngrams.hashes, known)
    return Incidence(starts, columns, len(known.hashes))


@kernel
def _find(starts, hashes, known):
    found, used = np.empty(len(hashes), np.int32), 0
    lowest = len(known.starts) >> 1
    found_starts = np.zeros_like(starts)
    for word in range(len(starts) - 1):
        for index in range(starts[word], starts[word + 1]):
            bits = (hashes[index] >> known.shift) + lowest
            first, stop = known.starts[bits], known.starts[bits + 1]
            column = first + np.searchsorted(known.hashes[first:stop], hashes[index])
            if column < stop and known.hashes[column] == hashes[index]:
                found[used] = column
                used += 1
        found_starts[word + 1] = used
    return found_starts, found[:used].copy()


@kernel
def _transpose(starts, indices, columns):
    result_starts = np.zeros(columns + 1, np.int64)
    for column in indices:
        result_starts[column + 1] += 1
    result_starts = np.cumsum(result_starts)
    rows, next_of_column = np.empty(len(indices), np.int32), result_starts[:-1].copy()
    for row in range(len(starts) - 1):
        for index in range(starts[row], starts[row + 1]):
            column = indices[index]
            rows[next_of_column[column]] = row
            next_of_column[column] += 1
    return result_starts, rows


@kernel
def _add_rows(starts, indices, table, result):
    columns = np.uint64(result.shape[1])
    for row in range(len(starts) - 1):
        for column in range(columns):
            result[row, column] = 0
        for index in range(starts[row], starts[row + 1]):
            source = np.uint64(indices[index])
            for column in range(columns):
                result[row, column] += table[source, column]
