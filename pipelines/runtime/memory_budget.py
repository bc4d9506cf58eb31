"""Memory budget of a worker."""

from dataclasses import dataclass
from typing import NamedTuple

from bitcipher.errors import BitcipherError

# Bytes of memory of Python with NumPy, Arrow, numba, spaCy, and torch, which spaCy imports where it is installed,
# before any work. About half of it are pages of library files.
LIBRARY_BYTES = 500 << 20

# Bytes of memory per text chunk in a tokenizer's cache, including the tokens of the chunk.
CHUNK_BYTES = 200
# Fraction of the free memory for a tokenizer's cache.
CHUNK_SHARE = 0.25

# Bytes of memory per byte of English text of a count batch, while spaCy tokenizes it and while it is counted.
BYTES_PER_TEXT_BYTE = 10

# Bytes of memory per entry (stored pair) while entries are gathered and weighted for vectors. Measured: 72 bytes.
BYTES_PER_ENTRY = 76

# Bytes of memory per entry, and per row, while segments are merged. Both are held as read and as merged (24 bytes for
# an entry, 28 for a row), and rows also with the position of their entries and their place in the order (16). Measured
# on text, where a row has about four entries: 36 bytes. Measured on 33 million words that occur once, where a row has
# one entry and each entry another right word, whose number, hashes and place in the order are held too: 75 bytes. With
# 200 million such words, two bits per word of the segment (`NumberSet`) are added; workers of a whole build took 1,469
# MiB of 1,500 at most.
BYTES_PER_MERGED = 102

# Bytes of memory per entry of the segments, while all entries are weighted in memory. Measured: 66 bytes.
BYTES_PER_WEIGHTED_ENTRY = 72

# Bytes of memory per word of a range while its rows are merged: a table row, a number, a position, a total and two
# hashes.
BYTES_PER_WORD = 81

# Bytes of memory per word, in the segments that are added up, while a range of their words is added up: the sum so far,
# the words of the segments, Arrow's groups, and the sorted copy. Measured: 7 to 9.4 tables of words, of 42 bytes per
# word, with 2 million words of 3 to 16 segments. Merging the rows of a range takes more if almost all words occur once:
# 520 bytes per word, with the words, hashes and totals of the right words.
BYTES_PER_SUMMED_WORD = 540

# Minimum budget in MiB: the libraries, and some memory for work.
MIN_MIB = 600


class RangeLimits(NamedTuple):
    """Maximum sizes of the ranges that a worker merges."""

    size: int
    """Number of rows and entries (stored pairs) of all segments."""
    words: int
    """Number of words of all segments."""


@dataclass(frozen=True)
class MemoryBudget:
    """Memory budget of a worker, or of each thread of a process without workers, and the sizes of work that fit in it.

    Raises:
        BitcipherError: if the budget is below the minimum.
    """

    mib: int
    """Memory of a worker or thread in MiB."""
    threads: int = 1
    """Number of threads of the process. All sizes of work are those of one thread, unless they say otherwise."""

    def __post_init__(self) -> None:
        if self.mib < MIN_MIB:
            raise BitcipherError(f"`memory_mib` must be at least {MIN_MIB}, got {self.mib}.")

    @property
    def bytes(self) -> int:
        """Memory of a worker or thread in bytes."""
        return self.mib << 20

    @property
    def free_bytes(self) -> int:
        """Memory of the worker in bytes, or of all threads together, without the libraries."""
        return self.bytes * self.threads - LIBRARY_BYTES

    @property
    def chunks(self) -> int:
        """Maximum number of text chunks in a tokenizer's cache."""
        return int(self._free * CHUNK_SHARE) // CHUNK_BYTES

    @property
    def batch_bytes(self) -> int:
        """Bytes of text per count batch."""
        return int(self._free * (1 - CHUNK_SHARE)) // BYTES_PER_TEXT_BYTE

    @property
    def range_entries(self) -> int:
        """Maximum number of entries (stored pairs) that can be gathered in memory."""
        return self._free // BYTES_PER_ENTRY

    @property
    def range_limits(self) -> RangeLimits:
        """Maximum sizes of the ranges that can be merged in memory."""
        return RangeLimits(self._free // BYTES_PER_MERGED, self._free // BYTES_PER_SUMMED_WORD)

    @property
    def range_limits_while_counting(self) -> RangeLimits:
        """Maximum sizes of the ranges that can be merged in memory while a tokenizer keeps its cache."""
        return RangeLimits(*(int(limit * (1 - CHUNK_SHARE)) for limit in self.range_limits))

    @property
    def weighted_entries(self) -> int:
        """Maximum number of entries (stored pairs) that can be weighted in memory, all at the same time, by all threads
        together."""
        return self.free_bytes // BYTES_PER_WEIGHTED_ENTRY

    @property
    def _free(self) -> int:
        return self.bytes - LIBRARY_BYTES
