"""Batches of document chunks: Arrow arrays, with which a line costs no Python object.

Plain text by lines is read in blocks of bytes. Documents of other formats are read one at a time, and then grouped.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from pipelines.ingest.document_chunks import DocumentChunk, split_text
from pipelines.ingest.quarantine import Quarantine
from pipelines.ingest.raw_documents import LineBatch
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.readers import read_chunks
from pipelines.ingest.sources import Source

# Number of characters from which a batch is complete: little memory, in which the fixed cost of a batch is negligible.
BATCH_CHARACTERS = 1 << 20


class ChunkBatch(NamedTuple):
    """Consecutive chunks of documents."""

    texts: pa.LargeStringArray
    continues: np.ndarray
    """(chunks,) bool, whether the next chunk belongs to the same document."""

    @property
    def ends(self) -> np.ndarray:
        """End of each chunk in the UTF-8 text of the batch, (chunks,) int64."""
        offsets = self._offsets
        return offsets[1:] - offsets[0]

    @property
    def text(self) -> np.ndarray:
        """UTF-8 text of all chunks, (bytes,) uint8."""
        offsets = self._offsets
        # An array of empty strings can lack the buffer of bytes.
        return np.frombuffer(self.texts.buffers()[2] or b"", np.uint8)[offsets[0] : offsets[-1]]

    @property
    def _offsets(self) -> np.ndarray:
        return np.frombuffer(self.texts.buffers()[1], np.int64)[self.texts.offset :][: len(self.texts) + 1]

    def slice(self, start: int, stop: int | None = None) -> "ChunkBatch":
        """Return the chunks from `start` to `stop`, without a copy."""
        return ChunkBatch(self.texts[start:stop], self.continues[start:stop])


class BatchJoiner:
    """Joins batches to one. The text of a batch is copied when it is added, so its memory serves for the next one.

    The first use of memory can cost more than the copy, above all on virtual machines.

    Args:
        capacity: expected number of bytes. Memory that is not filled is not used.

    Attributes:
        size: number of bytes of the added batches.
    """

    def __init__(self, capacity: int):
        self._text = np.empty(capacity, np.uint8)
        self._ends = [np.zeros(1, np.int64)]
        self._continues: list[np.ndarray] = []
        self.size = 0

    def __bool__(self) -> bool:
        """Return whether there is a batch."""
        return bool(self._continues)

    def add(self, batch: ChunkBatch) -> None:
        """Add a batch."""
        text = batch.text
        if self.size + len(text) > len(self._text):
            more = np.empty(max(len(text), len(self._text)), np.uint8)
            self._text = np.concatenate([self._text[: self.size], more])
        self._text[self.size : self.size + len(text)] = text
        self._ends.append(self.size + batch.ends)
        self._continues.append(batch.continues)
        self.size += len(text)

    def join(self) -> ChunkBatch:
        """Return all added batches as one."""
        offsets, continues = np.concatenate(self._ends), np.concatenate(self._continues)
        buffers = (pa.py_buffer(offsets), pa.py_buffer(self._text[: self.size]))
        return ChunkBatch(pa.LargeStringArray.from_buffers(len(continues), *buffers), continues)


def read_batches(source: Source, options: ReadOptions, quarantine: Quarantine | None = None) -> Iterator[ChunkBatch]:
    """Yield the chunks that `pipelines.ingest.readers.read_chunks` yields, in batches.

    Arguments and errors are those of `read_source`.
    """
    if source.format != "text" or options.document != "line":
        yield from batch_chunks(read_chunks(source, options, quarantine))
    elif source.size:
        # Imported here, because only counting needs its kernel.
        from pipelines.ingest.readers.line_batches import read_lines

        quarantine = quarantine or Quarantine(source.uri, options.max_bad_share)
        for record in quarantine.separate(read_lines(source, options)):
            if not isinstance(record, LineBatch):
                yield from batch_chunks(chunk for text in record.strings for chunk in split_text(text))
            elif len(record.texts):
                yield ChunkBatch(record.texts, np.zeros(len(record.texts), np.bool_))


def batch_chunks(chunks: Iterable[DocumentChunk]) -> Iterator[ChunkBatch]:
    """Yield chunks in batches of about `BATCH_CHARACTERS`."""
    texts: list[str] = []
    continues: list[bool] = []
    size = 0
    for chunk in chunks:
        texts.append(chunk.text)
        continues.append(chunk.continues)
        size += len(chunk.text)
        if size >= BATCH_CHARACTERS:
            yield _make_batch(texts, continues)
            texts, continues, size = [], [], 0
    if texts:
        yield _make_batch(texts, continues)


def _make_batch(texts: list[str], continues: list[bool]) -> ChunkBatch:
    return ChunkBatch(pa.array(texts, pa.large_string()), np.array(continues, np.bool_))
