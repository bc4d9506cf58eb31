"""Parquet files by path or URI, on local disks and in stores (see `bitcipher.files.storage`)."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from bitcipher.errors import BitcipherError
from bitcipher.files import storage


def read_table(uri: str) -> pa.Table:
    """Return the table in a Parquet file.

    Raises:
        BitcipherError: if the file is missing or damaged.
    """
    with _parquet_file(uri) as file:
        # A worker has one CPU, and Arrow's threads can crash a process that exits right afterwards.
        return file.read(use_threads=False)


def iter_table(uri: str) -> Iterator[pa.Table]:
    """Yield the row groups of a Parquet file, of at most 2²⁰ rows if `write_table` wrote it. An empty file has one.

    Raises:
        BitcipherError: if the file is missing or damaged.
    """
    with _parquet_file(uri) as file:
        for group in range(file.num_row_groups):
            yield file.read_row_group(group, use_threads=False)
        if not file.num_row_groups:
            yield file.read(use_threads=False)


class RowGroup(NamedTuple):
    """Row group of an open Parquet file.

    Attributes:
        uri: path or URI of the file.
        file: the file.
        number: number of the row group, from 0 on.
    """

    uri: str
    file: pq.ParquetFile
    number: int

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.file.metadata.row_group(self.number).num_rows

    def bounds(self, column: int) -> tuple[str, str] | None:
        """Return the smallest and the largest value of a column of strings, or None if the file does not have them.

        Raises:
            BitcipherError: if the file is damaged.
        """
        with _naming_damage(self.uri):
            statistics = self.file.metadata.row_group(self.number).column(column).statistics
            return (statistics.min, statistics.max) if statistics is not None and statistics.has_min_max else None

    def read(self, columns: list[str] | None = None) -> pa.Table:
        """Return some columns of the row group, by default all.

        Raises:
            BitcipherError: if the file is damaged.
        """
        with _naming_damage(self.uri):
            return self.file.read_row_group(self.number, columns=columns, use_threads=False)


def iter_row_groups(uri: str) -> Iterator[RowGroup]:
    """Yield the row groups of a Parquet file, none of an empty file. They are read on demand.

    Raises:
        BitcipherError: if the file is missing or damaged.
    """
    with _parquet_file(uri) as file:
        for number in range(file.num_row_groups):
            yield RowGroup(uri, file, number)


@contextmanager
def _parquet_file(uri: str) -> Iterator[pq.ParquetFile]:
    # `pq.read_table` would import Arrow's datasets and pandas, which takes 0.1 s.
    with (
        _naming_damage(uri),
        storage.reading(uri) as stream,
        pq.ParquetFile(stream, page_checksum_verification=True) as file,
    ):
        check_columns(file.schema_arrow, uri)
        yield file


def check_columns(schema: pa.Schema, uri: str) -> None:
    """Check that the columns of a table have different names, so that a name means one column.

    Raises:
        BitcipherError: if two columns have one name.
    """
    name, count = next(iter(Counter(schema.names).most_common(1)), ("", 0))
    if count > 1:
        raise BitcipherError(f"{uri} has {count:,} columns named {name!r}: rename or remove all but one of them.")


@contextmanager
def _naming_damage(uri: str) -> Iterator[None]:
    """Turn errors of a damaged file into a sentence that names it."""
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # UnicodeDecodeError: a damaged column name
        raise BitcipherError(f"{uri} is not a Parquet file, or it is damaged: {error}.") from None


def write_table(uri: str, table: pa.Table) -> None:
    """Write a table as a Parquet file with checksums of its pages, which `read_table` verifies."""
    with storage.writing(uri) as stream:
        write_parquet(stream, table)


def write_parquet(stream: Any, table: pa.Table, group_rows: int | None = None) -> None:
    """Write a table to a stream in the form of `write_table`.

    Args:
        stream: the stream.
        table: the table.
        group_rows: maximum number of rows of a row group, by default 2²⁰.
    """
    pq.write_table(table, stream, row_group_size=group_rows, compression="zstd", write_page_checksum=True)
