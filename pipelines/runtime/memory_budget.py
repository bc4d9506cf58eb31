"""How much a worker may hold at once, derived from the memory that it is given."""

from dataclasses import dataclass

from bitcipher.errors import BitcipherError

# Python with NumPy, Arrow, numba and spaCy, before any work.
LIBRARY_BYTES = 350 << 20

# A tokenizer's memory of chunks: about 200 bytes each, its tokens included.
CHUNK_BYTES = 200
CHUNK_SHARE = 0.25

# Memory of a slice while it is tokenized and counted, to a byte of its text: spaCy's tokens of English.
BYTES_OF_TEXT_BYTE = 10

# Memory of an entry while ranges are merged: as it is read, with the others of its range, and as it is written.
BYTES_OF_ENTRY = 64

# Memory of an entry of the segments while all are weighed at once: measured, 111 bytes.
BYTES_OF_WEIGHED = 112

# Memory of a word where all are held: in a table, with its number, its place, and its total.
BYTES_OF_WORD = 65

# Less would be nothing but libraries.
MIN_MIB = 600


@dataclass(frozen=True)
class MemoryBudget:
    """What fits into the memory of a worker."""

    mib: int

    def __post_init__(self) -> None:
        """Refuse what libraries alone would fill."""
        if self.mib < MIN_MIB:
            raise BitcipherError(f"`memory_mib` must be at least {MIN_MIB}, got {self.mib}.")

    @property
    def bytes(self) -> int:
        """All of it."""
        return self.mib << 20

    @property
    def chunks(self) -> int:
        """Chunks that a tokenizer remembers."""
        return int(self._free * CHUNK_SHARE) // CHUNK_BYTES

    @property
    def slice_bytes(self) -> int:
        """Text that is counted at once."""
        return int(self._free * (1 - CHUNK_SHARE)) // BYTES_OF_TEXT_BYTE

    @property
    def range_entries(self) -> int:
        """Entries that are merged at once."""
        return self._free // BYTES_OF_ENTRY

    @property
    def weighted_entries(self) -> int:
        """Entries of segments that are weighed at once, and stay in memory so."""
        return self._free // BYTES_OF_WEIGHED

    @property
    def _free(self) -> int:
        return self.bytes - LIBRARY_BYTES
