"""Merged counts of segments: their sum, computed while it is read."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np

from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.merge import merge_rows, renumber
from bitcipher.counts.merged_counts import MergedCounts, PartialCounts
from bitcipher.counts.pairs import PairBlock, iter_pairs, limit_window
from bitcipher.counts.row_ranges import locate_ranges
from bitcipher.counts.segment_ranks import RankFinder
from bitcipher.counts.selected_rows import SelectedRows, iter_selected
from bitcipher.counts.word_ranges import choose_ranges, sample_step, sample_words
from bitcipher.vocabulary import Vocabulary

# Number of entries (stored pairs) merged at a time, by all threads together: 12 bytes each, in three copies.
RANGE_ENTRIES = 1 << 24


def open_merged(
    vocabulary: Vocabulary,
    context_window: ContextWindow,
    segments: Sequence[Sequence[str]],
    threads: int = 1,
    find_ranks: Callable[[], list[np.ndarray]] | None = None,
) -> MergedCounts:
    """Return the merged counts of segments. Each iteration over them reads the segments again, block by block.

    Args:
        vocabulary: vocabulary of the counts.
        context_window: window of the counts.
        segments: URIs of the parts of each segment.
        threads: number of threads that read and add up rows.
        find_ranks: function that returns the rank of each word number of each segment, which is called when they are
            needed; by default they are read from the segments.
    """

    @cache
    def ranks() -> list[np.ndarray]:
        return find_ranks() if find_ranks else [*map(RankFinder(vocabulary).find_all, segments)]

    def partials(window: int) -> Iterator[PartialCounts]:
        for names, ranks_of_segment in zip(segments, ranks(), strict=True):
            for name in names:
                for block in iter_pairs(name, len(ranks_of_segment)):
                    yield PartialCounts(block, ranks_of_segment, 1)

    def rows(window: int) -> Iterator[PairBlock]:
        of_segments = ranks()

        def select(block: PairBlock, segment: int) -> PairBlock:
            return renumber(limit_window(block, window), of_segments[segment])

        return iter_merged_rows(segments, select, vocabulary.row_order(), vocabulary.oov_rank, threads)

    def selected(window: int, mask: np.ndarray) -> Iterator[SelectedRows]:
        return iter_selected(segments, ranks(), mask, window, threads)

    return MergedCounts(vocabulary, context_window, rows, partials, selected)


def iter_merged_rows(
    segments: Sequence[Sequence[str]],
    select: Callable[[PairBlock, int], PairBlock],
    order: np.ndarray,
    oov_rank: int,
    threads: int = 1,
) -> Iterator[PairBlock]:
    """Yield the sums of the rows of segments. Each thread reads and adds up one range of words at a time.

    Args:
        segments: URIs of the parts of each segment.
        select: `select(block, segment)` returns the rows and pairs of a block to add up, numbered by rank. The block
            has the word numbers of the segment, which is given by its index.
        order: (N,) int64, the position of each rank in the order of the words' bytes.
        oov_rank: rank of `<oov>`, whose rows every range contributes to and which come last, or -1.
        threads: number of threads.
    """
    limit = RANGE_ENTRIES // threads
    step = sample_step(limit, len(segments))
    ranges = choose_ranges([sample_words(parts, "entries", step) for parts in segments], limit)
    located = [locate_ranges(parts, ranges) for parts in segments]

    def add_up(index: int) -> tuple[PairBlock, PairBlock]:
        blocks = [
            select(row_range.read(segment.words), number)
            for number, segment in enumerate(located)
            for row_range in segment.row_ranges[index]
        ]
        return merge_rows(blocks, order, oov_rank)

    oov: list[PairBlock] = []
    with ThreadPoolExecutor(threads) as pool:
        # A thread starts a range when the caller has taken an earlier one, so sums do not pile up.
        running = deque(pool.submit(add_up, index) for index in range(min(threads, len(ranges))))
        for index in range(len(ranges)):
            merged, oov_rows = running.popleft().result()
            if index + threads < len(ranges):
                running.append(pool.submit(add_up, index + threads))
            oov = [merge_rows([*oov, oov_rows], order, oov_rank)[1]]
            yield merged
            del merged
    yield from oov
