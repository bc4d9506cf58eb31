"""Sample of a corpus, partitioned into parts of doubling size."""

import math
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import zip_longest
from tempfile import TemporaryDirectory
from typing import NamedTuple

import orjson

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from pipelines.ingest.document_chunks import split_document
from pipelines.ingest.quarantine import Quarantine
from pipelines.ingest.readers import ReadOptions, read_chunks
from pipelines.ingest.readers.byte_streams import BUFFER_BYTES
from pipelines.ingest.source_groups import estimate_text_bytes
from pipelines.ingest.sources import Source, compression_of

# Bytes of text that a calibration counts: a few seconds of work, and enough doublings to measure a falling exponent.
SAMPLE_BYTES = 24 << 20

# Number of files in the sample, evenly spaced in the listing: 16, or as many small files as have the text of a sample.
# More than the maximum would take longer to open than to count. Each contributes in proportion to its text.
SAMPLE_SOURCES = 16
MAX_SAMPLE_SOURCES = 4096

# Of the documents at the beginning of a file, one in SPREAD is sampled. Neighboring documents are often similar, so
# consecutive documents have fewer distinct words than a sample of the corpus.
SPREAD = 8

# Maximum number of characters of a sampled document. Longer documents are split, because a sample of few books has
# fewer distinct words than one of parts of many books.
MAX_CHARACTERS = 1 << 16

# Minimum number of documents. A smaller sample is split into about this number of texts.
MIN_DOCUMENTS = 64

# Number of parts: 1/64, 1/64, 1/32, … 1/2 of the sample.
PARTS = 7


@dataclass(frozen=True)
class SampledRecords:
    """Numbers of records at the beginning of a file."""

    uri: str
    read: int
    """Number of records that were read, good or bad."""
    bad: int
    """Number of bad records."""
    example: str
    """Sentence about the first bad record, empty if there is none."""


@dataclass(frozen=True)
class Sample:
    """Sample of the documents of a corpus."""

    documents: list[str]
    text_per_stored_byte: float
    """Bytes of text per stored byte of the files."""
    records: list[SampledRecords]
    """Numbers of records at the beginning of each sampled file."""


def read_sample(sources: Sequence[Source], options: ReadOptions, sample_bytes: int = SAMPLE_BYTES) -> Sample:
    """Return a sample of the documents at the beginning of some files, interleaved by file.

    Args:
        sources: sources of the corpus.
        options: options of the readers.
        sample_bytes: maximum number of bytes of UTF-8 text.

    Raises:
        BitcipherError: if the sources have no text, or the beginning of a file has only bad records.
    """
    filled = [source for source in sources if source.size]
    if not filled:
        raise BitcipherError("All sources of the sample are empty: leave out empty files.")
    whole = sample_bytes * len(filled) // max(1, sum(map(estimate_text_bytes, filled)))
    number = min(len(filled), max(SAMPLE_SOURCES, min(whole, MAX_SAMPLE_SOURCES)))
    sampled = [filled[i * len(filled) // number] for i in range(number)]
    total = sum(map(estimate_text_bytes, sampled))

    def read_head(source: Source) -> _Head:
        return _read_head(source, options, max(1, SPREAD * sample_bytes * estimate_text_bytes(source) // total))

    with ThreadPoolExecutor(storage.REQUESTS) as pool:
        heads = list(pool.map(read_head, sampled))
    text_bytes = sum(head.text_bytes for head in heads)
    if not text_bytes:
        raise BitcipherError("The sources have no documents: check that they contain text, and that `field` is right.")
    spread = min(SPREAD, max(1, round(text_bytes / sample_bytes)))
    lists = [_split(head.documents, MAX_CHARACTERS)[::spread] for head in heads]
    documents = [document for row in zip_longest(*lists) for document in row if document is not None]
    if len(documents) < MIN_DOCUMENTS:
        documents = _split(documents, max(1, sum(map(len, documents)) // MIN_DOCUMENTS))
    records = [head.records for head in heads]
    return Sample(documents, text_bytes / sum(head.stored_bytes for head in heads), records)


def partition(documents: Sequence[str]) -> list[list[str]]:
    """Partition documents into parts of 1/64, 1/64, 1/32, … 1/2 of the sample.

    The part of a document depends on the trailing zeros of its index, so each part is spread over the whole sample. For
    example, the last part has all documents with odd indices.
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


class _Head(NamedTuple):
    """Documents at the beginning of a file, with their size as text and in the file."""

    documents: list[str]
    text_bytes: float
    stored_bytes: float
    records: SampledRecords


def _read_head(source: Source, options: ReadOptions, text_bytes: int) -> _Head:
    """Return the documents at the beginning of a file, and the number of stored bytes that contain them.

    The beginning of the file is copied and read, which gives the text per stored byte. Parquet files cannot be read
    from a copy of their beginning, so the ratio of a large Parquet file is estimated.
    """
    stored = min(source.size, text_bytes * source.size // estimate_text_bytes(source) + 1)
    if stored == source.size:
        documents, records = _read_texts(source, options, 1.0)
        if documents or not records.bad:
            return _Head(documents, _total_bytes(documents), stored, records)
    elif source.format not in ("parquet", "hf"):
        with TemporaryDirectory(prefix="bitcipher-plan-") as folder:
            # The copy keeps the file ending, which determines the compression.
            copy = os.path.join(folder, f"head-{os.path.basename(source.uri)}")
            with storage.reading(source.read_uri) as stream, open(copy, "wb") as target:
                target.write(stream.read(stored))
            head = source.model_copy(update={"size": stored}).with_read_uri(copy)
            documents, records = _read_texts(head, options, 1.0, is_truncated=True)
        if documents:
            return _Head(documents, _total_bytes(documents) + _unread_bytes(documents, source), stored, records)
    # The file is Parquet, the first document is longer than the copy, or all records are bad, which raises an error.
    documents, records = _read_texts(source, options, options.max_bad_share, max_bytes=text_bytes)
    taken = _total_bytes(documents)
    return _Head(documents, taken, taken * source.size / estimate_text_bytes(source), records)


def _read_texts(
    source: Source,
    options: ReadOptions,
    max_bad_share: float,
    *,
    max_bytes: float = math.inf,
    is_truncated: bool = False,
) -> tuple[list[str], SampledRecords]:
    """Return the texts at the beginning of a source, up to `max_bytes` of text, and its numbers of records.

    If the source is truncated, an error ends it, and the records after the last text are not counted.
    """
    quarantine = Quarantine(source.uri, max_bad_share)
    texts, read, bad = [], 0, 0
    try:
        for chunk in read_chunks(source, options, quarantine):
            texts.append(chunk.text)
            read, bad = quarantine.read, quarantine.bad
            max_bytes -= len(chunk.text.encode())
            if max_bytes <= 0:
                break
    except BitcipherError:
        if not is_truncated:
            raise
    if not is_truncated:
        read, bad = quarantine.read, quarantine.bad
    return texts, SampledRecords(source.uri, read, bad, quarantine.kept[0].message if bad else "")


def _unread_bytes(documents: list[str], source: Source) -> float:
    """Return the expected bytes of text at the end of the copy that the reader did not yield."""
    is_compressed = bool(compression_of(source.uri))
    if source.format == "text" and not is_compressed:
        return 0.0
    sizes = [len(document.encode()) for document in documents]
    # On average, half of the document in which the copy ends, and half a buffer. Long documents are more likely to
    # contain the end, so documents are weighted by their size.
    return (sum(size * size for size in sizes) / sum(sizes) + BUFFER_BYTES * is_compressed) / 2


def _split(documents: list[str], limit: int) -> list[str]:
    return [chunk.text for document in documents for chunk in split_document([document], limit)]


def _total_bytes(documents: list[str]) -> int:
    return sum(len(document.encode()) for document in documents)
