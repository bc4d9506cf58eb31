"""Tokens of text chunks."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa


class ChunkTokens(NamedTuple):
    """Tokens of several chunks."""

    words: pa.LargeStringArray
    """The tokens of all chunks, in order."""
    sizes: np.ndarray
    """Number of tokens of each chunk, (chunks,) int64."""


def merge_tokens(is_second: np.ndarray, first: ChunkTokens, second: ChunkTokens) -> ChunkTokens:
    """Return the tokens of chunks in order, from those of two kinds of chunks.

    Args:
        is_second: (chunks,) bool, the kind of each chunk.
        first, second: tokens of the chunks of both kinds.
    """
    sizes = np.empty(len(is_second), np.int64)
    sizes[~is_second], sizes[is_second] = first.sizes, second.sizes
    of_second = np.repeat(is_second, sizes)
    positions = np.empty(len(of_second), np.int64)
    positions[~of_second] = np.arange(len(first.words))
    positions[of_second] = len(first.words) + np.arange(len(second.words))
    return ChunkTokens(pa.concat_arrays([first.words, second.words]).take(pa.array(positions)), sizes)
