"""Rank of each word of a segment, and rows of each range of words in the segment."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from bitcipher import storage
from bitcipher.counts import (
    RowRange,
    VocabularyFile,
    WordRange,
    locate_ranges,
    ranks_of,
)


@dataclass(frozen=True)
class RankInput:
    """A segment, and the ranges of words to find in it."""

    segment: int
    """Number of the segment."""
    parts: list[str]
    """URIs of its parts."""
    ranges: list[WordRange]
    """The ranges."""


@dataclass(frozen=True)
class RankedSegment:
    """Output of `RankStage` for a segment."""

    segment: int
    """Number of the segment."""
    row_ranges: list[list[RowRange]]
    """Rows of the segment in each range of words."""


class RankStage:
    """Stage that writes the rank of each word of a segment, and finds the rows of each range of words.

    Args:
        vocabulary: file of the vocabulary.
        work: folder for temporary files.
    """

    def __init__(self, vocabulary: VocabularyFile, work: str):
        self._vocabulary = vocabulary.read()
        self._work = work

    def __call__(self, item: RankInput) -> Iterator[RankedSegment]:
        """Yield the row ranges of a segment."""
        ranks = ranks_of(self._vocabulary, item.parts)
        storage.write_table(_file(self._work, item.segment), pa.table({"rank": ranks}))
        yield RankedSegment(item.segment, locate_ranges(item.parts, item.ranges).row_ranges)


def read_ranks(work: str, segment: int) -> np.ndarray:
    """Return the rank of each word number of a segment, (words,) int32."""
    return storage.read_table(_file(work, segment))["rank"].to_numpy()


def _file(work: str, segment: int) -> str:
    return storage.join(work, "ranks", f"{segment}.parquet")
