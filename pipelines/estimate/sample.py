"""Some text of a corpus, dealt into parts of which each is as large as all before it."""

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

# Text that a calibration counts: some seconds' worth, and enough doublings to see exponents fall.
SAMPLE_BYTES = 24 << 20

# Files that it is taken from, evenly over the listing.
SAMPLE_SOURCES = 8

# Of the documents at the beginning of a file one in so many is taken: what stands side by side is often alike, and
# would have fewer words than the corpus.
SPREAD = 4

# Fewer documents than this are cut into as many.
FEWEST_DOCUMENTS = 64

# Parts: 1/64, 1/64, 1/32, … 1/2 of the sample.
PARTS = 7


@dataclass(frozen=True)
class Sample:
    """Text, and what is known of the files it comes from."""

    documents: list[str]
    text_per_stored_byte: float
    """Bytes of text to a byte of the files as they are stored."""


def read_sample(sources: Sequence[Source], options: ReadOptions, sample_bytes: int = SAMPLE_BYTES) -> Sample:
    """The beginnings of some files, documents of each in turn.

    Args:
        sources: the listing.
        options: see `read_chunks`.
        sample_bytes: UTF-8 text to take, if there is as much.

    Raises:
        BitcipherError: if there is no text.
    """
    stride = max(1, len(sources) // SAMPLE_SOURCES)
    chosen = [source for source in sources[::stride] if source.size][:SAMPLE_SOURCES]
    if not chosen:
        raise BitcipherError("Every source that the sample would come from is empty: leave the empty ones out.")
    heads = [_read_head(source, options, SPREAD * sample_bytes // len(chosen)) for source in chosen]
    text_bytes = sum(head.text_bytes for head in heads)
    if not text_bytes:
        raise BitcipherError("The sources hold no documents: check that they hold text, and that the field is right.")
    spread = min(SPREAD, max(1, round(text_bytes / sample_bytes)))
    documents = list(chain.from_iterable(_by_turns([head.documents[::spread] for head in heads])))
    if len(documents) < FEWEST_DOCUMENTS:
        limit = max(1, sum(map(len, documents)) // FEWEST_DOCUMENTS)
        documents = [part.text for document in documents for part in split_document([document], limit)]
    return Sample(documents, text_bytes / sum(head.stored_bytes for head in heads))


def deal(documents: Sequence[str]) -> list[list[str]]:
    """Parts of which each is about as large as all before it, the first two apart; all are spread over the sample.

    Document i belongs to the part that its trailing zeros say: odd ones are the last part, half of all.
    """
    parts: list[list[str]] = [[] for _ in range(PARTS)]
    for place, document in enumerate(documents):
        zeros = (place & -place).bit_length() - 1 if place else PARTS
        parts[max(0, PARTS - 1 - zeros)].append(document)
    return [part for part in parts if part]


def write_documents(path: str, documents: Iterable[str]) -> None:
    """Write JSON lines of `text`."""
    with storage.writing(path) as stream:
        stream.writelines(orjson.dumps({"text": document}) + b"\n" for document in documents)


@dataclass(frozen=True)
class _Head:
    documents: list[str]
    text_bytes: float
    stored_bytes: float


def _read_head(source: Source, options: ReadOptions, text_bytes: int) -> _Head:
    """The documents at the beginning of a file, and how many bytes of the file they take.

    A copy of the file's beginning is read, which tells how much text so many bytes are. Parquet is read from its end,
    so of a large file that can only be estimated.
    """
    stored = min(source.size, text_bytes * source.size // estimate_text_bytes(source) + 1)
    if stored == source.size:
        documents = [piece.text for piece in read_chunks(source, options)]
        return _Head(documents, sum(_sizes(documents)), stored)
    if source.format != "parquet":
        with TemporaryDirectory(prefix="bitcipher-plan-") as folder:
            # The same ending, by which compression is known.
            copy = os.path.join(folder, f"head-{os.path.basename(source.uri)}")
            with storage.reading(source.uri) as stream, open(copy, "wb") as target:
                target.write(stream.read(stored))
            documents = list(_until_cut(read_chunks(Source(uri=copy, size=stored, format=source.format), options)))
        if documents:
            return _Head(documents, sum(_sizes(documents)) + _lost(documents, source), stored)
        # A document longer than that, or a mistake: the file itself tells.
    documents = list(_up_to(text_bytes, read_chunks(source, options)))
    taken = sum(_sizes(documents))
    return _Head(documents, taken, taken * source.size / estimate_text_bytes(source))


def _until_cut(pieces: Iterator[DocumentChunk]) -> Iterator[str]:
    """Texts until the file ends in the midst of something, as a copy of its beginning does."""
    with suppress(BitcipherError):
        yield from (piece.text for piece in pieces)


def _lost(documents: list[str], source: Source) -> float:
    """Bytes of text of the copy that were not read, on average."""
    is_compressed = bool(compression_of(source.uri))
    if source.format == "text" and not is_compressed:
        return 0.0
    sizes = _sizes(documents)
    # Half of the document that the copy ends in: long ones are the likelier to be met. And what waits in a buffer.
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


def _by_turns(lists: Iterable[list[str]]) -> Iterator[list[str]]:
    """The first of each list, then the second of each, and so on."""
    for row in zip_longest(*lists):
        yield [document for document in row if document is not None]
