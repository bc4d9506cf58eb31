"""`MemberStream`: decompressed bytes of a file of several bz2 or xz members.

Python's `bz2` and `lzma` files ignore everything after the first member that does not begin like a member. A damaged
header would therefore hide the rest of the file, and so would the zeros that xz allows between members.
"""

import io
from collections.abc import Callable
from typing import IO, Protocol


class Decompressor(Protocol):
    """Decompressor of one member, such as `bz2.BZ2Decompressor`."""

    @property
    def eof(self) -> bool:
        """Whether the member is complete."""
        ...

    @property
    def needs_input(self) -> bool:
        """Whether the next bytes need more stored bytes."""
        ...

    @property
    def unused_data(self) -> bytes:
        """Stored bytes after the end of the member."""
        ...

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        """Return at most `max_length` decompressed bytes."""
        ...


class MemberStream(io.RawIOBase):
    """Decompressed bytes of all members of a file. Zeros are allowed after each member.

    Reading raises EOFError for a truncated file, and the error of the decompressor for damage and for other bytes after
    a member.

    Args:
        stored: the compressed bytes.
        new_decompressor: function that returns the decompressor of a member.
        read_bytes: number of compressed bytes to read at a time.
    """

    def __init__(self, stored: IO[bytes], new_decompressor: Callable[[], Decompressor], read_bytes: int):
        self._stored = stored
        self._new_decompressor = new_decompressor
        self._read_bytes = read_bytes
        self._restart()

    def _restart(self) -> None:
        self._decompressor = self._new_decompressor()
        self._position = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return whether the compressed file is seekable."""
        return self._stored.seekable()

    def tell(self) -> int:
        """Return the position in the decompressed bytes."""
        return self._position

    def readinto(self, buffer: memoryview) -> int:  # pyright: ignore[reportIncompatibleMethodOverride] (Buffer)
        """Read bytes into a buffer, and return their number, 0 at the end."""
        content = self._decompress(len(buffer))
        buffer[: len(content)] = content
        return len(content)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to a position in the decompressed bytes: forward by reading, backward by reading from the beginning."""
        if whence == io.SEEK_CUR:
            offset += self._position
        elif whence == io.SEEK_END:
            while self._decompress(self._read_bytes):
                pass
            offset += self._position
        if offset < self._position:
            self._stored.seek(0)
            self._restart()
        while self._position < offset and self._decompress(min(self._read_bytes, offset - self._position)):
            pass
        return self._position

    def _decompress(self, size: int) -> bytes:
        """Return the next bytes, at least one and at most `size`; none at the end of the file."""
        content = b""
        while not content:
            data = b""
            if self._decompressor.eof:
                data = self._skip_padding(self._decompressor.unused_data)
                if not data:
                    return b""
                self._decompressor = self._new_decompressor()
            elif self._decompressor.needs_input:
                data = self._stored.read(self._read_bytes)
                if not data:
                    raise EOFError
            content = self._decompressor.decompress(data, size)
        self._position += len(content)
        return content

    def _skip_padding(self, data: bytes) -> bytes:
        """Return the next stored bytes that are not zeros."""
        while not (data := data.lstrip(b"\0")) and (data := self._stored.read(self._read_bytes)):
            pass
        return data
