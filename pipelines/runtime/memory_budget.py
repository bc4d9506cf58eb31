"""Memory budget of a worker."""

from dataclasses import dataclass

from bitcipher.errors import BitcipherError

# Python with NumPy, Arrow, numba and spaCy, before any work.
LIBRARY_BYTES = 350 << 20

# A tokenizer's cache of text chunks: about 200 bytes per chunk, including its tokens.
CHUNK_BYTES = 200
CHUNK_SHARE = 0.25

# Memory per byte of text of a count batch while it is tokenized and counted: spaCy's tokens of English.
BYTES_PER_TEXT_BYTE = 10

# Memory per entry while ranges are merged: as read, sorted with the others of its range, and as written.
BYTES_PER_ENTRY = 64

# Memory per entry of the segments while all are weighted at once: measured, 111 bytes.
BYTES_PER_WEIGHTED_ENTRY = 112

# Memory per word where all words are held: in a table, with its number, its position and its total.
BYTES_PER_WORD = 65

# Less leaves no room beside the libraries.
MIN_MIB = 600


@dataclass(frozen=True)
class MemoryBudget:
    """What fits into the memory of a worker.

    Raises:
        BitcipherError: if the libraries alone would fill it.
    """

    mib: int
    """Memory of the worker in MiB."""

    def __post_init__(self) -> None:
        if self.mib < MIN_MIB:
            raise BitcipherError(f"`memory_mib` must be at least {MIN_MIB}, got {self.mib}.")

    @property
    def bytes(self) -> int:
        """Memory of the worker in bytes."""
        return self.mib << 20

    @property
    def chunks(self) -> int:
        """Maximum number of text chunks in a tokenizer's cache."""
        return int(self._free * CHUNK_SHARE) // CHUNK_BYTES

    @property
    def batch_bytes(self) -> int:
        """Bytes of text in a count batch."""
        return int(self._free * (1 - CHUNK_SHARE)) // BYTES_PER_TEXT_BYTE

    @property
    def range_entries(self) -> int:
        """Maximum number of entries merged at once."""
        return self._free // BYTES_PER_ENTRY

    @property
    def weighted_entries(self) -> int:
        """Maximum number of entries that can be weighted, and stay, in memory."""
        return self._free // BYTES_PER_WEIGHTED_ENTRY

    @property
    def _free(self) -> int:
        return self.bytes - LIBRARY_BYTES
