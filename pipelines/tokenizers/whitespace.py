"""Tokens are what stands between white space, as `str.split` has it."""

import numpy as np
import pyarrow as pa


class WhitespaceRule:
    """Each chunk is a token.

    Args:
        lowercase: lower-case tokens, as `str.lower` does.
    """

    reaches: frozenset[tuple[str, str]] = frozenset()

    def __init__(self, lowercase: bool):
        self._lowercase = lowercase

    def __call__(self, chunks: pa.LargeStringArray) -> tuple[pa.LargeStringArray, np.ndarray]:
        """One token a chunk."""
        if self._lowercase:
            chunks = pa.array([chunk.lower() for chunk in chunks.to_pylist()], pa.large_string())
        return chunks, np.ones(len(chunks), np.int64)
