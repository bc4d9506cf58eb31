"""Window over the decompressed bytes of an archive: the bytes that were read and do not belong to a record yet."""

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from pipelines.ingest.raw_documents import BadRecord
from pipelines.ingest.readers.archive_blocks import ArchiveBlocks, Block


class Place(NamedTuple):
    """Place in an archive from which it can be read again."""

    offset: int
    """Byte offset of a gzip member, or in a decompressed stream."""
    skipped: int
    """Number of decompressed bytes between the beginning of the member and the place."""


class ArchiveWindow:
    """Bytes of an archive up to the next gap.

    All positions are relative to the beginning of the window, which moves when bytes are dropped.
    """

    def __init__(self, blocks: ArchiveBlocks):
        self._archive = blocks
        self.content = bytearray()
        self.gap: BadRecord | None = None
        """Damage after the content; reading continues after `resume`."""
        self._restart(0)

    def _restart(self, offset: int) -> None:
        self._blocks: Iterator[Block | BadRecord] = self._archive.iter_from(offset)
        self._has_ended = False
        self.content.clear()
        self.gap = None
        self._position = 0  # of the window, in the decompressed bytes since the restart
        self._places = deque([(0, offset)])  # positions and offsets of members, or of the first block
        self._are_members = False
        self._ends: deque[int] = deque()

    def fill(self, count: int) -> bool:
        """Read until the window has `count` bytes; return whether it has."""
        while len(self.content) < count and self.gap is None and not self._has_ended:
            block = next(self._blocks, None)
            if block is None:
                self._has_ended = True
            elif isinstance(block, BadRecord):
                self.gap = block
            else:
                self._add(block)
        return len(self.content) >= count

    def _add(self, block: Block) -> None:
        if block.is_start:
            if not self._are_members:
                self._are_members = True
                self._places.clear()
            self._places.append((self._position + len(self.content), block.offset))
            self._forget_places()
        self.content += block.content
        if block.is_end:
            self._ends.append(self._position + len(self.content))

    def drop(self, count: int) -> None:
        """Drop bytes from the beginning of the window."""
        del self.content[:count]
        self._position += count
        self._forget_places()
        while self._ends and self._ends[0] < self._position:
            self._ends.popleft()

    def _forget_places(self) -> None:
        while len(self._places) > 1 and self._places[1][0] <= self._position:
            self._places.popleft()

    def skip(self, count: int) -> bool:
        """Drop bytes that need not be in memory at the same time; return whether there were as many."""
        while count and self.fill(1):
            step = min(count, len(self.content))
            self.drop(step)
            count -= step
        return not count

    def resume(self) -> BadRecord | None:
        """Drop all bytes before the gap, continue after it, and return it."""
        self.drop(len(self.content))
        gap, self.gap = self.gap, None
        return gap

    @property
    def place(self) -> Place:
        """Place of the beginning of the window."""
        position, offset = self._places[0]
        distance = self._position - position
        return Place(offset, distance) if self._are_members else Place(offset + distance, 0)

    @property
    def offset(self) -> int:
        """Byte offset of the beginning of the window: that of its gzip member, or in the decompressed stream."""
        return self.place.offset

    def rewind(self, place: Place) -> None:
        """Read again from a place."""
        self._restart(place.offset)
        self.skip(place.skipped)

    def member_starts(self, start: int, stop: int) -> list[int]:
        """Return the positions from `start` to before `stop` at which gzip members begin."""
        if not self._are_members:
            return []
        window = self._position
        return [position - window for position, _ in self._places if start <= position - window < stop]

    def member_end(self, start: int) -> int | None:
        """Return the first position from `start` at which a gzip member ends with the right checksum."""
        for position in self._ends:
            if position - self._position >= start:
                return position - self._position
        return None
