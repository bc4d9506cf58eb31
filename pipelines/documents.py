"""Shards of documents: Parquet files with one column of texts, the form that every later stage reads.

Texts are stored in the order in which they were read, each whole: a shard may hold more than was asked for,
by at most its last document.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import chain, count
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from bitcipher.errors import BitcipherError
from bitcipher.storage import join, reading, writing

SCHEMA = pa.schema([pa.field("text", pa.large_string(), nullable=False)])
# Bytes of text in a row group: all that is held in memory, and enough that lz4 and the footer cost nothing.
ROW_GROUP_BYTES = 8 << 20
# Parquet counts the bytes of a value in a signed 32-bit integer.
LARGEST_DOCUMENT_BYTES = (1 << 31) - 1


@dataclass(frozen=True)
class DocumentShard:
    """A finished file of documents."""

    name: str
    """The task's name and the part's number, such as "00007-000"."""
    uri: str
    """Where the file lies."""
    documents: int
    """How many documents it holds."""
    text_bytes: int
    """How many bytes of UTF-8 text they have."""

    def to_row(self) -> dict[str, Any]:
        """The shard in plain values, as a row of a Ray dataset."""
        return asdict(self)

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> "DocumentShard":
        """The shard that `to_row` wrote."""
        return cls(str(row["name"]), str(row["uri"]), int(row["documents"]), int(row["text_bytes"]))


def write_document_shards(
    documents: Iterator[str], folder: str, name: str, shard_bytes: int
) -> Iterator[DocumentShard]:
    """Write documents to `{folder}/{name}-{part:03d}.parquet` and tell of each file as soon as it is whole.

    Args:
        documents: the texts, in the order in which they are kept.
        folder: path or URI.
        name: the name of the task.
        shard_bytes: UTF-8 text after which a new file is begun, in bytes.

    Raises:
        BitcipherError: if a text is not valid Unicode or too long for Parquet.
    """
    texts = map(_encode, documents)
    for part in count():
        first = next(texts, None)
        if first is None:
            return
        shard_name = f"{name}-{part:03d}"
        uri = join(folder, f"{shard_name}.parquet")
        with writing(uri) as stream:
            written, text_bytes = _write_shard(stream, chain([first], texts), shard_bytes)
        yield DocumentShard(shard_name, uri, written, text_bytes)


def read_document_shard(uri: str) -> pa.LargeStringArray:
    """The texts of one shard, as one contiguous array.

    Raises:
        BitcipherError: if the file is missing, damaged or no shard of documents.
    """
    with reading(uri) as stream:
        try:
            file = pq.ParquetFile(stream)
            if not file.schema_arrow.equals(SCHEMA):
                raise BitcipherError(f"{uri} is no shard of documents; its columns are {file.schema_arrow.names}.")
            return file.read().column("text").combine_chunks()
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise BitcipherError(
                f"Cannot read the shard {uri}: {error}. Remove it and run the reading of its sources again."
            ) from error


def _write_shard(stream: IO[bytes], texts: Iterator[bytes], shard_bytes: int) -> tuple[int, int]:
    """Write texts until the shard is full or they end; returns how many, and their bytes."""
    documents = text_bytes = 0
    group: list[bytes] = []
    group_bytes = 0
    # Statistics and dictionaries find values; texts are only ever read whole, from first to last.
    with pq.ParquetWriter(stream, SCHEMA, compression="lz4", use_dictionary=False, write_statistics=False) as writer:
        for text in texts:
            group.append(text)
            group_bytes += len(text)
            is_full = text_bytes + group_bytes >= shard_bytes
            if is_full or group_bytes >= ROW_GROUP_BYTES:
                writer.write_batch(_batch(group), row_group_size=len(group))
                documents, text_bytes = documents + len(group), text_bytes + group_bytes
                group, group_bytes = [], 0
            if is_full:
                break
        if group:
            writer.write_batch(_batch(group), row_group_size=len(group))
    return documents + len(group), text_bytes + group_bytes


def _batch(texts: list[bytes]) -> pa.RecordBatch:
    return pa.record_batch([pa.array(texts, pa.large_string())], schema=SCHEMA)


def _encode(text: str) -> bytes:
    try:
        encoded = text.encode()
    except UnicodeEncodeError as error:
        raise BitcipherError(
            f"A document is not valid Unicode: character {error.start} is half a surrogate pair "
            f"({text[error.start]!a}), after {text[max(0, error.start - 30) : error.start]!r}. "
            "Replace it by U+FFFD."
        ) from None
    if len(encoded) > LARGEST_DOCUMENT_BYTES:
        raise BitcipherError(
            f"A document of {len(encoded)} bytes is too long (at most {LARGEST_DOCUMENT_BYTES}); "
            "cut it into several, or read it line by line."
        )
    return encoded
