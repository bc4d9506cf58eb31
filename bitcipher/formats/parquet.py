"""A Parquet file with a row a word: word, count and passages where there are any, and vector as a list of floats."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bitcipher import storage
from bitcipher.errors import BitcipherError
from bitcipher.formats.row_blocks import Advance, blocks
from bitcipher.formats.table_builder import check_numbers
from bitcipher.vectors import CipherVectors
from bitcipher.vocabulary import SCHEMA

VECTOR = "vector"


def write(vectors: CipherVectors, target: str, advance: Advance) -> None:
    """Write the file, a row group for each block."""
    numbers = {"count": vectors.counts, "passages": vectors.passages}
    numbers = {name: column for name, column in numbers.items() if column is not None}
    fields = [SCHEMA.field(name) for name in ("word", *numbers)]
    write_rows(
        target,
        pa.schema([*fields, vector_field(vectors)]),
        (
            [words, *(column[start : start + len(words)] for column in numbers.values()), rows]
            for start, words, rows in blocks(vectors, advance)
        ),
    )


def vector_field(vectors: CipherVectors) -> pa.Field:
    """The column of vectors: lists of as many float32 as there are dimensions."""
    return pa.field(VECTOR, pa.list_(pa.float32(), vectors.vector_size), nullable=False)


def write_rows(target: str, schema: pa.Schema, pieces: Iterable[list]) -> None:
    """Write columns piece by piece; the last of them are the vectors, (n, d) float32."""
    # Numbers of vectors hardly repeat: a dictionary of them would only take time.
    dictionaries = [name for name in schema.names if name != VECTOR]
    with (
        storage.writing(target) as stream,
        pq.ParquetWriter(stream, schema, compression="zstd", use_dictionary=dictionaries) as writer,
    ):
        for *columns, rows in pieces:
            lists = pa.FixedSizeListArray.from_arrays(pa.array(rows.reshape(-1)), type=schema.field(VECTOR).type)
            arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=False)]
            writer.write_table(pa.Table.from_arrays([*arrays, lists], schema=schema))


def read(uri: str) -> CipherVectors:
    """Read a file that has the columns word and vector; count and passages are optional.

    Raises:
        BitcipherError: if it has no such columns, or the vectors differ in length.
    """
    table = storage.read_table(uri)
    if not {"word", VECTOR} <= set(table.column_names):
        raise BitcipherError(f"{uri} has the columns {', '.join(table.column_names)}, but needs word and {VECTOR}.")
    try:
        lists = table[VECTOR].combine_chunks()
        flat = lists.flatten().cast(pa.float32())
        words = table["word"].cast(pa.large_string()).combine_chunks()
        numbers = [
            table[name].cast(pa.int64()).to_numpy() if name in table.column_names else None
            for name in ("count", "passages")
        ]
    except (pa.ArrowException, AttributeError) as error:
        raise BitcipherError(f"{uri} is not a table of words and vectors: {error}.") from None
    lengths = pc.unique(pc.list_value_length(lists)).to_pylist()
    if len(lengths) != 1 or not lengths[0] or flat.null_count:
        raise BitcipherError(f"The vectors of {uri} differ in length, or some are missing: write it again.")
    vectors = CipherVectors(
        words, np.asarray(flat).reshape(-1, lengths[0]), *numbers, manifest={"read_from": "parquet"}
    )
    check_numbers(vectors, uri)
    return vectors
