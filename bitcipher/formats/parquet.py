"""Parquet file with one row per word and the columns word, count, passages and vector (a list of float32).

The columns count and passages are optional.
"""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bitcipher.errors import BitcipherError
from bitcipher.files import parquet_files, storage
from bitcipher.formats.row_blocks import Advance, iter_blocks
from bitcipher.formats.table_builder import check_table
from bitcipher.table.vector_table import VectorTable
from bitcipher.vocabulary import SCHEMA

VECTOR = "vector"


def write(table: VectorTable, target: str, advance: Advance) -> None:
    """Write the file. Each block of `iter_blocks` becomes a row group."""
    numbers = {"count": table.counts, "passages": table.passages}
    numbers = {name: column for name, column in numbers.items() if column is not None}
    fields = [SCHEMA.field(name) for name in ("word", *numbers)]
    write_rows(
        target,
        pa.schema([*fields, vector_field(table)]),
        (
            [words, *(column[start : start + len(words)] for column in numbers.values()), rows]
            for start, words, rows in iter_blocks(table, advance)
        ),
    )


def vector_field(table: VectorTable) -> pa.Field:
    """Return the Arrow field of the column of vectors: lists of `vector_size` float32."""
    return pa.field(VECTOR, pa.list_(pa.float32(), table.vector_size), nullable=False)


def write_rows(target: str, schema: pa.Schema, blocks: Iterable[list]) -> None:
    """Write blocks of rows. A block is a list of columns, of which the last holds the vectors, (n, d) float32."""
    # Few values of vectors repeat, so a dictionary of the values would not save space.
    dictionaries = [name for name in schema.names if name != VECTOR]
    with (
        storage.writing_new(target) as stream,
        pq.ParquetWriter(stream, schema, compression="zstd", use_dictionary=dictionaries) as writer,
    ):
        for *columns, rows in blocks:
            lists = pa.FixedSizeListArray.from_arrays(pa.array(rows.reshape(-1)), type=schema.field(VECTOR).type)
            arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=False)]
            writer.write_table(pa.Table.from_arrays([*arrays, lists], schema=schema))


def read(uri: str) -> VectorTable:
    """Read a file with the columns word and vector, and optionally count and passages.

    Raises:
        BitcipherError: if a column is missing, or if the vectors differ in length.
    """
    columns = parquet_files.read_table(uri)
    if not {"word", VECTOR} <= set(columns.column_names):
        raise BitcipherError(
            f"{uri} must have the columns word and {VECTOR}; it has {', '.join(columns.column_names)}."
        )
    _check_type(columns.schema.field(VECTOR).type, uri)
    try:
        lists = columns[VECTOR].combine_chunks()
        flat = lists.flatten().cast(pa.float32(), safe=False)  # values above those of float32 are refused as infinity
        words = columns["word"].cast(pa.large_string()).combine_chunks()
        numbers = [
            columns[name].cast(pa.int64()).to_numpy() if name in columns.column_names else None
            for name in ("count", "passages")
        ]
    except (pa.ArrowException, AttributeError) as error:
        raise BitcipherError(f"{uri} is not a table of words and vectors: {error}.") from None
    lengths = pc.unique(pc.list_value_length(lists)).to_pylist()
    if len(lengths) != 1 or not lengths[0] or flat.null_count:
        raise BitcipherError(f"The vectors of {uri} differ in length, or some are missing: write the file again.")
    return check_table(uri, "parquet", words, np.asarray(flat).reshape(-1, lengths[0]), *numbers)


def _check_type(vectors: pa.DataType, uri: str) -> None:
    is_list = pa.types.is_list(vectors) or pa.types.is_large_list(vectors) or pa.types.is_fixed_size_list(vectors)
    if not (is_list and (pa.types.is_floating(vectors.value_type) or pa.types.is_integer(vectors.value_type))):
        raise BitcipherError(f"The column {VECTOR} of {uri} must hold lists of numbers, got the type {vectors}.")
