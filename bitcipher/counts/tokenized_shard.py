"""The tokens of a shard, as they come out of a tokenizer and go into counting."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa


class TokenizedShard(NamedTuple):
    """Documents as numbers of words.

    Attributes:
        words: (types,) what the numbers stand for; words that do not occur do no harm.
        ids: (tokens,) int32, document after document.
        ends: (documents,) int64, where each document ends in `ids`.
    """

    words: pa.LargeStringArray
    ids: np.ndarray
    ends: np.ndarray

    @classmethod
    def from_documents(cls, documents: Iterable[Sequence[str]]) -> "TokenizedShard":
        """Documents given as sequences of words.

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
