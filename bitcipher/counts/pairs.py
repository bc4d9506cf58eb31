"""Pair counts as rows: for a left word and an offset, the right words and their counts.

Only positive offsets o are stored, since the count matrix of -o is the transpose of that of o. If counts are summed
over all offsets, their rows have offset 0. Rows and their pairs are stored in two Parquet files:

    NAME.rows.parquet      left int32, offset int16, length int64
    NAME.entries.parquet   right int32, count int64

An entry is a pair. The pairs of the first row are the first `length` entries, those of the second row follow, and so
on. The left word is therefore not repeated for each pair, which saves space and time, and a range of rows can be read
without the other rows. The pairs of a left word and an offset that are too many for one row group are several
consecutive rows.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import zip_longest
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bitcipher.count_limits import check_pair_counts
from bitcipher.errors import BitcipherError, first_line
from bitcipher.files import storage
from bitcipher.files.hashed_files import hashing

ROWS = pa.schema(
    [
        pa.field("left", pa.int32(), nullable=False),
        pa.field("offset", pa.int16(), nullable=False),
        pa.field("length", pa.int64(), nullable=False),
    ]
)
ENTRIES = pa.schema([pa.field("right", pa.int32(), nullable=False), pa.field("count", pa.int64(), nullable=False)])
# Entry of the metadata of a schema that holds the name of the file. All count files of a kind have the same columns, so
# a file under the name of another one would be read without an error.
_KEY = b"bitcipher.file"


class PairBlock(NamedTuple):
    """Block of consecutive rows with their pairs. A row holds the pairs of a left word and an offset."""

    left: np.ndarray  # (rows,) int32
    offset: np.ndarray  # (rows,) int16
    length: np.ndarray  # (rows,) int64, number of pairs of each row; the sum is `entries`
    right: np.ndarray  # (entries,) int32, ascending within a row
    count: np.ndarray  # (entries,) int64


def concatenate(blocks: Iterable[PairBlock]) -> PairBlock:
    """Return one block with the rows of several blocks."""
    blocks = list(blocks)
    if len(blocks) == 1:
        return blocks[0]
    empty = PairBlock(*(np.empty(0, dtype) for dtype in (np.int32, np.int16, np.int64, np.int32, np.int64)))
    return PairBlock(*(np.concatenate(columns) for columns in zip(empty, *blocks, strict=True)))


def split(block: PairBlock, entries: int) -> Iterator[PairBlock]:
    """Yield the same rows in blocks of at most `entries` pairs. A longer row gets its own block."""
    ends = np.cumsum(block.length)
    row = 0
    while row < len(ends):
        start = ends[row] - block.length[row]
        stop = max(row + 1, int(np.searchsorted(ends, start + entries, side="right")))
        rows, pairs = slice(row, stop), slice(start, ends[stop - 1])
        yield PairBlock(
            block.left[rows], block.offset[rows], block.length[rows], block.right[pairs], block.count[pairs]
        )
        row = stop


def cut_rows(block: PairBlock, entries: int) -> PairBlock:
    """Return the same pairs, with several rows in place of each row of more than `entries` pairs."""
    pieces = np.maximum(1, -(-block.length // entries))
    if (pieces == 1).all():
        return block
    rows = np.repeat(np.arange(len(pieces)), pieces)
    lengths = np.full(len(rows), entries)
    lengths[np.cumsum(pieces) - 1] = block.length - (pieces - 1) * entries
    return PairBlock(block.left[rows], block.offset[rows], lengths, block.right, block.count)


def limit_window(block: PairBlock, window: int) -> PairBlock:
    """Return the rows whose offset is at most `window`."""
    return select_rows(block, block.offset <= window)


def select_rows(block: PairBlock, selected: np.ndarray) -> PairBlock:
    """Return the rows for which `selected`, (rows,) bool, is true."""
    if selected.all():
        return block
    entries = np.repeat(selected, block.length)
    return PairBlock(*(c[selected] for c in block[:3]), *(c[entries] for c in block[3:]))


def select_pairs(block: PairBlock, selected: np.ndarray) -> PairBlock:
    """Return the pairs for which `selected`, (entries,) bool, is true. Rows without such pairs are left out."""
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(selected)])
    ends = np.cumsum(block.length)
    lengths = before[ends] - before[ends - block.length]
    rows = lengths > 0
    return PairBlock(block.left[rows], block.offset[rows], lengths[rows], block.right[selected], block.count[selected])


def write_pairs(
    uri: str, blocks: Iterable[PairBlock], on_block: Callable[[PairBlock], None] = lambda block: None
) -> tuple[str, str]:
    """Write blocks. The files appear when all blocks are written.

    Args:
        uri: folder and name of the two files, without their suffixes.
        blocks: consecutive rows; each block becomes a row group in both files.
        on_block: called with each block after it is written.

    Returns:
        The SHA-256 of the two files, in hexadecimal digits: rows and entries.
    """
    with ExitStack() as stack:
        streams = [stack.enter_context(hashing(file)) for file in pair_files(uri)]
        rows, entries = (
            stack.enter_context(_parquet_writer(stream, add_name(schema, file)))
            for stream, file, schema in zip(streams, pair_files(uri), (ROWS, ENTRIES), strict=True)
        )
        for block in blocks:
            for writer, schema, columns in ((rows, ROWS, block[:3]), (entries, ENTRIES, block[3:])):
                batch = pa.record_batch([pa.array(column) for column in columns], schema=schema)
                writer.write_batch(batch, row_group_size=max(1, len(batch)))
            on_block(block)
        rows.close()
        entries.close()
        return streams[0].sha256, streams[1].sha256


def pair_files(uri: str) -> tuple[str, str]:
    """Return the URIs of the two files that `write_pairs` writes for a URI: rows and entries."""
    return f"{uri}.rows.parquet", f"{uri}.entries.parquet"


def read_row_range(uri: str, rows: tuple[int, int], entries: tuple[int, int], words: int) -> PairBlock:
    """Return a range of rows. Only the Parquet row groups that overlap the range are read.

    Args:
        uri: folder and name of the two files, without their suffixes.
        rows: start and stop of the range in the file of rows.
        entries: start and stop of the range's pairs in the file of entries.
        words: number of word numbers, V.

    Raises:
        BitcipherError: if a file is missing or damaged.
    """
    rows_file, entries_file = pair_files(uri)
    block = PairBlock(*_read_slice(rows_file, ROWS, *rows), *_read_slice(entries_file, ENTRIES, *entries))
    _check_block(block, words, uri)
    return block


def read_rows(uri: str, start: int, stop: int) -> list[np.ndarray]:
    """Return the left words, offsets and lengths of the rows from `start` on and before `stop`.

    Raises:
        BitcipherError: if the file is missing or damaged.
    """
    return _read_slice(pair_files(uri)[0], ROWS, start, stop)


def iter_pairs(uri: str, words: int) -> Iterator[PairBlock]:
    """Yield the blocks that `write_pairs` wrote, in the same order.

    Args:
        uri: folder and name of the two files, without their suffixes.
        words: number of word numbers, V.

    Raises:
        BitcipherError: if a file is missing or damaged.
    """
    rows, entries = (
        _iter_row_groups(file, schema) for file, schema in zip(pair_files(uri), (ROWS, ENTRIES), strict=True)
    )
    for row_columns, entry_columns in zip_longest(rows, entries):
        if row_columns is None or entry_columns is None:
            raise BitcipherError(f"The rows and entries of {uri} do not match: build again.")
        block = PairBlock(*row_columns, *entry_columns)
        _check_block(block, words, uri)
        yield block


class PairGroups:
    """The row groups of the files of `write_pairs`, whose columns are read one by one. `open_groups` makes it."""

    def __init__(self, uri: str, rows: pq.ParquetFile, entries: pq.ParquetFile):
        self.uri = uri
        self._rows = rows
        self._entries = entries

    def __len__(self) -> int:
        """Number of row groups."""
        return self._rows.num_row_groups

    def rows(self, group: int) -> list[np.ndarray]:
        """Return the left words, offsets and lengths of the rows of a group."""
        return _read_group(self._rows, group, ROWS.names)

    def rights(self, group: int) -> np.ndarray:
        """Return the right words of the pairs of a group."""
        return _read_group(self._entries, group, ["right"])[0]

    def counts(self, group: int) -> np.ndarray:
        """Return the counts of the pairs of a group."""
        return _read_group(self._entries, group, ["count"])[0]


@contextmanager
def open_groups(uri: str) -> Iterator[PairGroups]:
    """Open files of `write_pairs`. The values of their columns are not checked.

    Args:
        uri: folder and name of the two files, without their suffixes.

    Raises:
        BitcipherError: if a file is missing or damaged.
    """
    rows, entries = pair_files(uri)
    with _open(rows, ROWS) as rows_file, _open(entries, ENTRIES) as entries_file:
        if rows_file.num_row_groups != entries_file.num_row_groups:
            raise BitcipherError(f"The rows and entries of {uri} do not match: build again.")
        yield PairGroups(uri, rows_file, entries_file)


def _check_block(block: PairBlock, words: int, uri: str) -> None:
    """Check the values of stored pairs, because the loops that follow do not check bounds.

    Raises:
        BitcipherError: if a value is not possible, or too large.
    """
    if block.length.min(initial=0) < 0 or block.length.sum() != len(block.right):
        raise BitcipherError(f"The rows and entries of {uri} do not match: build again.")
    are_words = all(0 <= c.min(initial=0) and c.max(initial=-1) < words for c in (block.left, block.right))
    if not are_words or block.count.min(initial=1) < 1:
        raise BitcipherError(f"The pairs of {uri} are damaged: build again.")
    check_pair_counts(block.count, uri)


def _iter_row_groups(uri: str, schema: pa.Schema) -> Iterator[list[np.ndarray]]:
    """Yield the columns of each row group of a Parquet file."""
    with _open(uri, schema) as file:
        for group in range(file.num_row_groups):
            yield _read_group(file, group, schema.names)


def _read_group(file: pq.ParquetFile, group: int, names: list[str]) -> list[np.ndarray]:
    """Return some columns of a row group."""
    table = file.read_row_group(group, columns=names, use_threads=False)
    return [table[name].to_numpy() for name in names]


@contextmanager
def _open(uri: str, schema: pa.Schema) -> Iterator[pq.ParquetFile]:
    try:
        with storage.reading(uri) as stream, pq.ParquetFile(stream, page_checksum_verification=True) as file:
            if file.schema_arrow != schema:
                raise pa.ArrowInvalid("it has other columns")
            check_name(file.schema_arrow, uri)
            yield file
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # UnicodeDecodeError: a damaged column name
        raise BitcipherError(f"{uri} is damaged ({first_line(error)}): build again.") from None


def _read_slice(uri: str, schema: pa.Schema, start: int, stop: int) -> list[np.ndarray]:
    """Return the columns of a range of rows of a Parquet file. Only the row groups that overlap the range are read."""
    columns = [np.empty(stop - start, field.type.to_pandas_dtype()) for field in schema]
    group_start = filled = 0
    with _open(uri, schema) as file:
        for group in range(file.num_row_groups):
            group_stop = group_start + file.metadata.row_group(group).num_rows
            low, high = max(start, group_start), min(stop, group_stop)
            if low < high:
                table = file.read_row_group(group, columns=schema.names, use_threads=False)
                for column, name in zip(columns, schema.names, strict=True):
                    column[low - start : high - start] = table[name][low - group_start : high - group_start]
                filled += high - low
            group_start = group_stop
    if filled != stop - start:
        raise BitcipherError(f"{uri} has fewer than {stop:,} rows. It is damaged: build again.")
    return columns


def _parquet_writer(stream, schema: pa.Schema) -> pq.ParquetWriter:
    # Most numbers are small, so BYTE_STREAM_SPLIT gives lz4 runs of zeros. It takes 2 bytes per entry, and writes and
    # reads 1.4 times as fast as delta encoding (17.6 M entries of English books and articles).
    return pq.ParquetWriter(
        stream,
        schema,
        compression="lz4",
        use_dictionary=False,
        write_statistics=False,
        write_page_checksum=True,
        column_encoding=dict.fromkeys(schema.names, "BYTE_STREAM_SPLIT"),
    )


def add_name(schema: pa.Schema, uri: str) -> pa.Schema:
    """Return a schema whose metadata holds the name of the file at `uri`."""
    return schema.with_metadata({**(schema.metadata or {}), _KEY: _name(uri)})


def check_name(schema: pa.Schema, uri: str) -> None:
    """Check that the metadata of a file's schema holds its name.

    Raises:
        BitcipherError: if the file was written under another name, or without a name.
    """
    name = (schema.metadata or {}).get(_KEY, b"")
    if name != _name(uri):
        other = f"it was written as {name.decode(errors='replace')!r}" if name else "it has no name of a count file"
        raise BitcipherError(f"{uri} is not the file that was written under this name ({other}): build again.")


def _name(uri: str) -> bytes:
    return uri.rpartition("/")[2].encode()
