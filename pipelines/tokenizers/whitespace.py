"""White-space tokenization, as by `str.split`."""

import numpy as np
import pyarrow as pa

from pipelines.tokenizers.chunk_tokenizer import ChunkTokens


class WhitespaceRule:
    """Rule that makes each chunk a token.

    Args:
        lowercase: lowercase the tokens, as by `str.lower`.
    """

    joins: frozenset[tuple[str, str]] = frozenset()

    def __init__(self, lowercase: bool):
        self._lowercase = lowercase

    def __call__(self, chunks: pa.LargeStringArray) -> ChunkTokens:
        """Return one token per chunk."""
        if self._lowercase:
            chunks = pa.array([chunk.lower() for chunk in chunks.to_pylist()], pa.large_string())
        return ChunkTokens(chunks, np.ones(len(chunks), np.int64))
