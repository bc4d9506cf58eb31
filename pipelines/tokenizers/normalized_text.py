"""Tokenization of normalized text (see `bitcipher.normalization`)."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bitcipher.normalization import normalize
from pipelines.tokenizers.chunk_tokenizer import Rule
from pipelines.tokenizers.chunk_tokens import ChunkTokens


class NormalizedRule:
    """Rule for chunks of text that are normalized first. Each distinct chunk is normalized once, and none of ASCII.

    Args:
        rule: rule that splits chunks into tokens.
    """

    def __init__(self, rule: Rule):
        self._rule = rule
        self.joins = rule.joins

    def __call__(self, chunks: pa.LargeStringArray) -> ChunkTokens:
        """Return the tokens of chunks. A chunk of invisible characters alone has none."""
        chunks = normalize_strings(chunks)
        is_empty = pc.equal(pc.binary_length(chunks), 0)
        if not pc.any(is_empty).as_py():
            return self._rule(chunks)
        has_text = ~is_empty.to_numpy(zero_copy_only=False)
        tokens = self._rule(chunks.filter(pa.array(has_text)))
        sizes = np.zeros(len(chunks), np.int64)
        sizes[has_text] = tokens.sizes
        return ChunkTokens(tokens.words, sizes)


def normalize_strings(strings: pa.LargeStringArray) -> pa.LargeStringArray:
    """Return strings with those that are not ASCII normalized."""
    is_other = pc.invert(pc.string_is_ascii(strings))
    if not pc.any(is_other).as_py():
        return strings
    normalized = [normalize(each) for each in strings.filter(is_other).to_pylist()]
    return pc.replace_with_mask(strings, is_other, pa.array(normalized, pa.large_string()))
