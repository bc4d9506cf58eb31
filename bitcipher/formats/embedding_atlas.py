"""Parquet files for embedding-atlas, with the columns word, rank, count (if the table has counts) and vector."""

import numpy as np
import pyarrow as pa

from bitcipher.formats.parquet import read, vector_field, write_rows
from bitcipher.formats.row_blocks import Advance, iter_blocks
from bitcipher.table.vector_table import VectorTable
from bitcipher.vocabulary import OOV, SCHEMA

__all__ = ["read", "write"]


def write(table: VectorTable, target: str, advance: Advance) -> None:
    """Write the file without `<oov>` and zero vectors, which have no position on a map of cosines."""
    is_shown = table.norms > 0
    if OOV in table.key_to_index:
        is_shown[table.key_to_index[OOV]] = False
    counts = [] if table.counts is None else [("count", table.counts)]
    numbers = [("rank", np.arange(1, len(table) + 1)), *counts]
    schema = pa.schema(
        [SCHEMA.field("word"), *(pa.field(name, pa.int64(), nullable=False) for name, _ in numbers)]
        + [vector_field(table)]
    )
    write_rows(
        target,
        schema,
        (
            [pa.array(words).filter(pa.array(shown)), *(column[start:][: len(shown)][shown] for _, column in numbers)]
            + [rows[shown]]
            for start, words, rows in iter_blocks(table, advance)
            for shown in [is_shown[start : start + len(words)]]
        ),
    )
