"""A Parquet file for embedding-atlas, which makes a map of the vectors: word, rank, count and vector."""

import numpy as np
import pyarrow as pa

from bitcipher.formats.parquet import vector_field, write_rows
from bitcipher.formats.row_blocks import Advance, blocks
from bitcipher.vectors import CipherVectors
from bitcipher.vocabulary import OOV, SCHEMA


def write(vectors: CipherVectors, target: str, advance: Advance) -> None:
    """Write the file, without `<oov>` and without vectors of zeros: they have no place on a map of cosines."""
    shown = vectors.norms > 0
    if OOV in vectors.key_to_index:
        shown[vectors.key_to_index[OOV]] = False
    counts = [] if vectors.counts is None else [("count", vectors.counts)]
    numbers = [("rank", np.arange(1, len(vectors) + 1)), *counts]
    schema = pa.schema(
        [SCHEMA.field("word"), *(pa.field(name, pa.int64(), nullable=False) for name, _ in numbers)]
        + [vector_field(vectors)]
    )
    write_rows(
        target,
        schema,
        (
            [pa.array(words).filter(pa.array(kept)), *(column[start:][: len(kept)][kept] for _, column in numbers)]
            + [rows[kept]]
            for start, words, rows in blocks(vectors, advance)
            for kept in [shown[start : start + len(words)]]
        ),
    )
