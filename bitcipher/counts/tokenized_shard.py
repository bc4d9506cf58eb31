"""`TokenizedShard`: the output of tokenizers and the input of counting."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa


class TokenizedShard(NamedTuple):
    """Documents as arrays of token ids.

    Attributes:
        words: (types,) the word of each id. Words that do not occur are allowed.
        ids: (tokens,) int32, document after document.
        ends: (documents,) int64, the end of each document in `ids`.
    """

    words: pa.LargeStringArray
    ids: np.ndarray
    ends: np.ndarray

    @classmethod
    def from_documents(cls, documents: Iterable[Sequence[str]]) -> "TokenizedShard":
        """Return the shard of documents that are given as sequences of words.

        >>> TokenizedShard.from_documents([["a", "b", "a"], []]).ids
        array([0, 1, 0], dtype=int32)
        """
        numbers: dict[str, int] = {}
        ids: list[int] = []
        ends: list[int] = []
        for document in documents:
            ids.extend(numbers.setdefault(word, len(numbers)) for word in document)
            ends.append(len(ids))
        return cls(pa.array(list(numbers), pa.large_string()), np.array(ids, np.int32), np.array(ends, np.int64))
