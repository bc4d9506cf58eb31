"""Sample of a corpus, partitioned into parts of doubling size."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, zip_longest
from tempfile import TemporaryDirectory

import orjson

from bitcipher import storage
from bitcipher.errors import BitcipherError
from pipelines.count.count_tasks import estimate_text_bytes
from pipelines.ingest.document_chunks import DocumentChunk, split_document
from pipelines.ingest.readers import ReadOptions, read_chunks
from pipelines.ingest.readers.byte_streams import BUFFER_BYTES
from pipelines.ingest.sources import Source, compression_of

# Bytes of text that a calibration counts: some seconds of work, and enough doublings to measure falling exponents.
SAMPLE_BYTES = 24 << 20

# Number of files in the sample, evenly spaced in the listing.
SAMPLE_SOURCES = 8

# One in SPREAD documents at the beginning of a file is taken, because neighboring documents are often similar and have
# fewer words than the corpus.
SPREAD = 4

# A sample with fewer documents is split into this number of texts.
MIN_DOCUMENTS = 64

# Number of parts: 1/64, 1/64, 1/32, … 1/2 of the sample.
PARTS = 7


@dataclass(frozen=True)
class Sample:
    """Text of some files of a corpus."""

    documents: list[str]
    text_per_stored_byte: float
    """Bytes of text per stored byte of the files."""


def read_sample(sources: Sequence[Source], options: ReadOptions, sample_bytes: int = SAMPLE_BYTES) -> Sample:
    """Return documents from the beginnings of some files, interleaved.

    Args:
        sources: the listing.
        options: how files become documents.
        sample_bytes: maximum number of bytes of UTF-8 text.

    Raises:
        BitcipherError: if there is no text.
    """
    stride = max(1, len(sources) // SAMPLE_SOURCES)
    chosen = [source for source in sources[::stride] if source.size][:SAMPLE_SOURCES]
    if not chosen:
        raise BitcipherError("All sources of the sample are empty: leave out empty files.")
    heads = [_read_head(source, options, SPREAD * sample_bytes // len(chosen)) for source in chosen]
    text_bytes = sum(head.text_bytes for head in heads)
    if not text_bytes:
        raise BitcipherError("The sources have no documents: check that they contain text, and that `field` is right.")
    spread = min(SPREAD, max(1, round(text_bytes / sample_bytes)))
    documents = list(chain.from_iterable(_interleave([head.documents[::spread] for head in heads])))
    if len(documents) < MIN_DOCUMENTS:
        limit = max(1, sum(map(len, documents)) // MIN_DOCUMENTS)
        documents = [part.text for document in documents for part in split_document([document], limit)]
    return Sample(documents, text_bytes / sum(head.stored_bytes for head in heads))


def partition(documents: Sequence[str]) -> list[list[str]]:
    """Partition documents into parts, each about as large as all before it, apart from the first two.

    The part of a document is given by the trailing zeros of its index, so each part is spread over the sample:
    documents with odd indices are the last part, half of all.
    """
    parts: list[list[str]] = [[] for _ in range(PARTS)]
    for index, document in enumerate(documents):
        zeros = (index & -index).bit_length() - 1 if index else PARTS
        parts[max(0, PARTS - 1 - zeros)].append(document)
    return [part for part in parts if part]


def write_documents(path: str, documents: Iterable[str]) -> None:
    """Write documents as JSON lines with the field `text`."""
    with storage.writing(path) as stream:
        stream.writelines(orjson.dumps({"text": document}) + b"\n" for document in documents)


@dataclass(frozen=True)
class _Head:
    documents: list[str]
    text_bytes: float
    stored_bytes: float


def _read_head(source: Source, options: ReadOptions, text_bytes: int) -> _Head:
    """Return the documents at the beginning of a file, and the stored bytes that they take.

    A copy of the beginning of the file is read, which gives the text per stored byte. Parquet is read from its end, so
    for a large file the ratio is only estimated.
    """
    stored = min(source.size, text_bytes * source.size // estimate_text_bytes(source) + 1)
    if stored == source.size:
        documents = [piece.text for piece in read_chunks(source, options)]
        return _Head(documents, sum(_sizes(documents)), stored)
    if source.format != "parquet":
        with TemporaryDirectory(prefix="bitcipher-plan-") as folder:
            # With the same ending, which gives the compression.
            copy = os.path.join(folder, f"head-{os.path.basename(source.uri)}")
            with storage.reading(source.uri) as stream, open(copy, "wb") as target:
                target.write(stream.read(stored))
            documents = list(
                _texts_until_error(read_chunks(Source(uri=copy, size=stored, format=source.format), options))
            )
        if documents:
            return _Head(documents, sum(_sizes(documents)) + _unread_bytes(documents, source), stored)
        # The document is longer than that, or the file is damaged; reading the file itself decides.
    documents = list(_up_to(text_bytes, read_chunks(source, options)))
    taken = sum(_sizes(documents))
    return _Head(documents, taken, taken * source.size / estimate_text_bytes(source))


def _texts_until_error(pieces: Iterator[DocumentChunk]) -> Iterator[str]:
    """Yield texts until the end of a truncated copy raises an error."""
    with suppress(BitcipherError):
        yield from (piece.text for piece in pieces)


def _unread_bytes(documents: list[str], source: Source) -> float:
    """Return the expected bytes of text of the copy that were not read."""
    is_compressed = bool(compression_of(source.uri))
    if source.format == "text" and not is_compressed:
        return 0.0
    sizes = _sizes(documents)
    # Half of the document that the copy ends in, which is more likely a long one, and half a buffer.
    buffered = BUFFER_BYTES if is_compressed else 0
    return (sum(size * size for size in sizes) / sum(sizes) + buffered) / 2


def _up_to(text_bytes: int, pieces: Iterator[DocumentChunk]) -> Iterator[str]:
    for piece in pieces:
        yield piece.text
        text_bytes -= len(piece.text.encode())
        if text_bytes <= 0:
            return


def _sizes(documents: list[str]) -> list[int]:
    return [len(document.encode()) for document in documents]


def _interleave(lists: Iterable[list[str]]) -> Iterator[list[str]]:
    """Yield the first of each list, then the second of each, and so on."""
    for row in zip_longest(*lists):
        yield [document for document in row if document is not None]
