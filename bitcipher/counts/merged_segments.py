"""Merged counts of segments: their sum, computed while it is read."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.merge import merge_rows, renumber
from bitcipher.counts.merged_counts import MergedCounts, PartialCounts
from bitcipher.counts.pairs import PairBlock, iter_pairs, limit_window
from bitcipher.counts.row_ranges import find_row_ranges
from bitcipher.counts.segment import read_words, word_numbers
from bitcipher.counts.segment_words import cut_ranges, merge_words
from bitcipher.vocabulary import Vocabulary

# Number of entries (stored pairs) merged at a time: 12 bytes each, in three copies.
RANGE_ENTRIES = 1 << 24


def open_merged(
    vocabulary: Vocabulary, context_window: ContextWindow, segments: Sequence[Sequence[str]]
) -> MergedCounts:
    """Return the merged counts of segments. Each iteration over them reads the segments again, block by block.

    Args:
        vocabulary: vocabulary of the counts.
        context_window: window of the counts.
        segments: URIs of the parts of each segment.
    """
    ranks = [ranks_of(vocabulary, read_words(parts)) for parts in segments]

    def partials(window: int) -> Iterator[PartialCounts]:
        for names, ranks_of_segment in zip(segments, ranks, strict=True):
            for name in names:
                for block in iter_pairs(name, len(ranks_of_segment)):
                    yield PartialCounts(block, ranks_of_segment, 1)

    def rows(window: int) -> Iterator[PairBlock]:
        def select(block: PairBlock, segment: int) -> PairBlock:
            return renumber(limit_window(block, window), ranks[segment])

        return iter_merged_rows(segments, select, vocabulary.row_order(), vocabulary.oov_rank)

    return MergedCounts(vocabulary, context_window, rows, partials)


def iter_merged_rows(
    segments: Sequence[Sequence[str]],
    select: Callable[[PairBlock, int], PairBlock],
    order: np.ndarray,
    oov_rank: int,
) -> Iterator[PairBlock]:
    """Yield the sums of the rows of segments. One range of words is read and added up at a time.

    Args:
        segments: URIs of the parts of each segment.
        select: `select(block, segment)` returns the rows and pairs of a block to add up, numbered by rank. The block
            has the word numbers of the segment, which is given by its index.
        order: (N,) int64, the position of each rank in the order of the words' bytes.
        oov_rank: rank of `<oov>`, whose rows every range contributes to and which come last, or -1.
    """
    words = merge_words(segments)
    firsts = [words["word"][first].as_py().encode() for first, _ in cut_ranges(words, RANGE_ENTRIES)]
    tables = [[read_words([name]) for name in names] for names in segments]
    found = [find_row_ranges(names, of_parts, firsts) for names, of_parts in zip(segments, tables, strict=True)]
    sizes = [sum(map(len, of_parts)) for of_parts in tables]
    oov: list[PairBlock] = []
    for i in range(len(firsts)):
        blocks = [
            select(row_range.read(sizes[segment]), segment)
            for segment, row_ranges in enumerate(found)
            for row_range in row_ranges[i]
        ]
        merged, oov_rows = merge_rows(blocks, order, oov_rank)
        oov = [merge_rows([*oov, oov_rows], order, oov_rank)[1]]
        yield merged
    yield from oov


def ranks_of(vocabulary: Vocabulary, words: pa.Table) -> np.ndarray:
    """Return the rank of each word number of a segment, (words,) int32.

    Args:
        vocabulary: the vocabulary; words outside it have the rank of <oov>.
        words: words of all parts of the segment, from `read_words`.
    """
    numbers = word_numbers(words)
    ranks = np.empty(len(numbers), np.int32)
    ranks[numbers] = vocabulary.ranks(words["word"].combine_chunks())
    return ranks
