"""Iteration over a table in blocks of rows, so that writers need little memory."""

from collections.abc import Callable, Iterator

import numpy as np

from bitcipher.table.vector_table import VectorTable

Advance = Callable[[int], None]
"""Progress callback, called with the number of rows written since the last call."""

# Bytes of float32 per block. As text, a block is about three times as large.
BLOCK_BYTES = 8 << 20


def iter_blocks(table: VectorTable, advance: Advance) -> Iterator[tuple[int, list[str], np.ndarray]]:
    """Yield the first row number, the words and the rows, (n, d) little-endian float32, of each block."""
    rows = max(1, BLOCK_BYTES // (4 * table.vector_size))
    for start in range(0, len(table), rows):
        words = table.words.slice(start, rows).to_pylist()
        yield start, words, np.ascontiguousarray(table.vectors[start : start + rows], "<f4")
        advance(len(words))
