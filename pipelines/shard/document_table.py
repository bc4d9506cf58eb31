"""Tables of documents, and their Parquet files with reproducible bytes."""

import hashlib
import io
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bitcipher.files import storage

DOCUMENTS = pa.schema(
    {
        "text": pa.string(),
        "url": pa.string(),
        "date": pa.string(),
        "language": pa.string(),
        "source": pa.string(),
        "offset": pa.int64(),
        "digest": pa.string(),
        "words": pa.int64(),
    }
)
DROPPED = DOCUMENTS.append(pa.field("reason", pa.string()))
QUARANTINED = pa.schema(
    {"source": pa.string(), "offset": pa.int64(), "reason": pa.string(), "message": pa.string(), "excerpt": pa.string()}
)

# Bytes of text per row group: large enough for full speed, and small enough for partial reads.
ROW_GROUP_BYTES = 8 << 20


def encode_text(text: str) -> bytes:
    """Return a text as UTF-8. Lone surrogates, which UTF-8 cannot encode, become U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="surrogatepass").decode(errors="replace").encode()


def digest_bytes(content: bytes) -> str:
    """Return the BLAKE2b-128 of an encoded text in hexadecimal."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def to_parquet(table: pa.Table) -> bytes:
    """Return the Parquet file of a table. Equal tables give equal bytes with the same version of Arrow."""
    stream = io.BytesIO()
    with pq.ParquetWriter(stream, table.schema, compression="zstd", write_page_checksum=True) as writer:
        for start, stop in row_groups(table):
            writer.write_table(table.slice(start, stop - start))
    return stream.getvalue()


def row_groups(table: pa.Table) -> Iterator[tuple[int, int]]:
    """Yield the first row of each row group, and the row after its last."""
    sizes: Sequence[int] = pc.binary_length(table["text"]).to_pylist() if "text" in table.column_names else []
    start = size = 0
    for row, length in enumerate(sizes):
        size += length
        if size >= ROW_GROUP_BYTES:
            yield start, row + 1
            start, size = row + 1, 0
    if start < len(table) or not len(table):
        yield start, len(table)


def write_named(folder: str, kind: str, prefix: str, table: pa.Table) -> tuple[str, str, int]:
    """Write a table as a file whose name contains the hash of its content.

    A late worker therefore never replaces a file with another content.

    Returns:
        The path relative to the folder, the SHA-256 of the file, and its size in bytes.
    """
    content = to_parquet(table)
    sha256 = hashlib.sha256(content).hexdigest()
    name = storage.join(kind, f"{prefix}-{sha256[:8]}.parquet")
    with storage.writing(storage.join(folder, name)) as stream:
        stream.write(content)
    return name, sha256, len(content)


def stem(name: str) -> str:
    """Return the name of a Parquet file without its folder and its ending."""
    return name.rpartition("/")[2].removesuffix(".parquet")
