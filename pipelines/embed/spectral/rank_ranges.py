"""Rank of each word of a segment, and rows of each range of words in the segment."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bitcipher.counts.row_ranges import RowRange, locate_ranges
from bitcipher.counts.segment_ranks import RankFinder, SegmentRanks
from bitcipher.counts.vocabulary_file import VocabularyFile
from bitcipher.counts.word_ranges import WordRange
from bitcipher.files import storage
from pipelines.embed.spectral.array_files import ENDING, read_array, write_array


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
    """Stage that writes the ranks of the words of a segment, and finds the rows of each range of words.

    Args:
        vocabulary: file of the vocabulary.
        work: folder for temporary files.
    """

    def __init__(self, vocabulary: VocabularyFile, work: str):
        self._finder = RankFinder(vocabulary.read())
        self._work = work

    def __call__(self, item: RankInput) -> Iterator[RankedSegment]:
        """Yield the row ranges of a segment."""
        located = locate_ranges(item.parts, item.ranges)
        ranks = self._finder.find(item.parts, located.words)
        sizes = np.array([ranks.words, ranks.oov_rank], np.int64)
        for name, array in (("sizes", sizes), ("bits", ranks.bits), ("before", ranks.before), ("ranks", ranks.ranks)):
            write_array(_file(self._work, item.segment, name), array)
        yield RankedSegment(item.segment, located.row_ranges)


def read_ranks(work: str, segment: int) -> SegmentRanks:
    """Return the rank of each word number of a segment, memory-mapped if the files are on this machine."""
    sizes, *arrays = (read_array(_file(work, segment, name)) for name in ("sizes", "bits", "before", "ranks"))
    words, oov_rank = sizes.tolist()
    return SegmentRanks(words, oov_rank, *arrays)


def _file(work: str, segment: int, name: str) -> str:
    return storage.join(work, "ranks", f"{segment}-{name}{ENDING}")
