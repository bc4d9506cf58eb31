"""Hashes of the blocks of a source, and a stream that compares each block with them before its bytes are used.

A source is read to hash it, and again to process it. A file can change in between, and a server can send other bytes
at each request. Blocks are compared as they are read, so results contain only bytes that the content hash covers, also
if a reader takes a part of a source or reads it in another order.
"""

import hashlib
import io
from typing import IO

from bitcipher.errors import BitcipherError

# Bytes of a block: little memory per open source, and 16 KiB of hashes per GiB.
BLOCK_BYTES = 1 << 20
HASH_BYTES = 16


def hash_block(block: bytes) -> bytes:
    """Return the BLAKE2b hash of a block. Its cost is about one percent of that of counting."""
    return hashlib.blake2b(block, digest_size=HASH_BYTES).digest()


class VerifiedStream(io.RawIOBase):
    """Stored bytes of a source, compared with its size and the hashes of its blocks.

    Reading raises BitcipherError if a block has other bytes than when the source was hashed, or if the source has
    another size than when it was listed.

    Args:
        stored: the stored bytes.
        uri: the source, for messages.
        size: size in bytes when the source was listed.
        hashes: concatenated hashes of all blocks, or no bytes if the source was not hashed.
    """

    def __init__(self, stored: IO[bytes], uri: str, size: int, hashes: bytes):
        self._stored = stored
        self._uri = uri
        self._size = size
        self._hashes = hashes
        self._position = 0
        self._number = -1  # of the block in memory
        self._block = memoryview(b"")

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return whether the stored bytes are seekable."""
        return self._stored.seekable()

    def tell(self) -> int:
        """Return the position in the stored bytes."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to a position in the stored bytes. The end is that of the listed size."""
        self._position = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        return self._position

    def readinto(self, buffer: memoryview) -> int:  # pyright: ignore[reportIncompatibleMethodOverride] (Buffer)
        """Read bytes into a buffer, and return their number, 0 at the end."""
        if not buffer:
            return 0
        number, start = divmod(self._position, BLOCK_BYTES)
        if number != self._number:
            self._load(number)
        content = self._block[start : start + len(buffer)]
        buffer[: len(content)] = content
        self._position += len(content)
        return len(content)

    def _load(self, number: int) -> None:
        """Read a block and compare it."""
        first = number * BLOCK_BYTES
        if self._stored.tell() != first:
            self._stored.seek(first)
        block = self._stored.read(BLOCK_BYTES)
        expected = max(0, min(BLOCK_BYTES, self._size - first))
        if len(block) != expected:
            found = "more" if len(block) > expected else f"{first + len(block):,}"
            raise BitcipherError(
                f"{self._uri} changed while it was read: it has {found} bytes, and had {self._size:,} when it was "
                f"listed: {_ADVICE}."
            )
        hash_of_block = self._hashes[number * HASH_BYTES : (number + 1) * HASH_BYTES]
        if hash_of_block and hash_block(block) != hash_of_block:
            raise BitcipherError(
                f"{self._uri} changed while it was read: after byte {first:,}, it has other bytes than when it was "
                f"hashed: {_ADVICE}."
            )
        self._block, self._number = memoryview(block), number


_ADVICE = (
    "when it is complete, run the same command again to resume. If its server sends other bytes at each request, "
    "download the file, and give the path of the copy"
)
