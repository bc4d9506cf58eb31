"""Gathered ranges: the pairs of a range of words, added up over all segments and transposed.

A range has all pairs whose left word is in the range, so each pair is in exactly one range. Left words outside the
vocabulary occur in all ranges. Together they are the word <oov>, so their rows are added up last, as a separate range.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.merge import merge_rows, renumber
from bitcipher.counts.pairs import PairBlock, limit_window
from bitcipher.counts.row_ranges import RowRange
from bitcipher.counts.vocabulary_file import VocabularyFile
from bitcipher.embedding.spectral.ppmi import sum_counts
from bitcipher.embedding.spectral.transpose import transpose
from bitcipher.files import storage
from pipelines.embed.spectral.array_files import read_slice, write_array
from pipelines.embed.spectral.pair_arrays import read_all, read_left, read_lengths, write_pairs
from pipelines.embed.spectral.rank_ranges import read_ranks

# Name of the range of left words outside the vocabulary.
OOV_RANGE = "oov"

# Files of a range: its pairs sorted by left word, the same pairs sorted by right word, pairs of left words outside the
# vocabulary, and marginals.
FORWARD, BACKWARD, OOV, SUMS = "forward", "backward", "oov", "sums.array"


@dataclass(frozen=True)
class GatherInput:
    """A range of words to gather."""

    name: str
    """Name of the range, part of its file names."""
    row_ranges: list[tuple[int, list[RowRange]]]
    """Number of each segment, and the rows of the words of the range in the segment."""


@dataclass(frozen=True)
class GatherOovInput:
    """The rows of left words outside the vocabulary, to add up over all ranges."""

    ranges: list[str]
    """Names of the ranges."""


class GatherStage:
    """Stage that adds up the pairs of a range of words over all segments.

    Args:
        vocabulary: file of the vocabulary.
        work: folder for temporary files.
        context_window: window of the vectors.
        range_entries: maximum number of pairs in memory.
    """

    def __init__(self, vocabulary: VocabularyFile, work: str, context_window: ContextWindow, range_entries: int):
        words = vocabulary.read()
        self._order = words.row_order()
        self._positions = self._order.astype(np.int32)
        self._oov_rank = words.oov_rank
        self._work = work
        self._context_window = context_window
        self._range_entries = range_entries

    def __call__(self, item: GatherInput | GatherOovInput) -> Iterator[str]:
        """Yield the name of a range when its files are written."""
        if isinstance(item, GatherOovInput):
            blocks = (read_all(gathered_uri(self._work, name, OOV)) for name in item.ranges)
            name, rows = OOV_RANGE, self._merge(blocks)[1]
        else:
            name = item.name
            rows, oov_rows = self._merge(self._read(item.row_ranges))
            write_pairs(gathered_uri(self._work, name, OOV), oov_rows)
        write_pairs(gathered_uri(self._work, name, FORWARD), rows)
        transposed = self._transpose(rows)
        write_pairs(gathered_uri(self._work, name, BACKWARD), transposed)
        write_array(gathered_uri(self._work, name, SUMS), self._sums(rows, transposed))
        yield name

    def _read(self, row_ranges: list[tuple[int, list[RowRange]]]) -> Iterator[PairBlock]:
        for segment, segment_ranges in row_ranges:
            ranks = read_ranks(self._work, segment)
            for row_range in segment_ranges:
                is_large = row_range.entry_stop - row_range.entry_start > self._range_entries
                for rows in [row for _, row in row_range.split()] if is_large else [row_range]:
                    yield renumber(limit_window(rows.read(len(ranks)), self._context_window.size), ranks)

    def _merge(self, blocks: Iterator[PairBlock]) -> tuple[PairBlock, PairBlock]:
        """Return the sum of blocks, which are added up whenever they do not fit in memory.

        The pairs of one word can be more than fit, but there are at most as many sums as words in its window.
        """
        held: list[PairBlock] = []
        entries, limit = 0, self._range_entries
        for block in blocks:
            held.append(block)
            entries += len(block.right)
            if entries > limit:
                held = [*merge_rows(held, self._order, self._oov_rank)]
                entries = sum(len(each.right) for each in held)
                limit = max(limit, 2 * entries)
        return merge_rows(held, self._order, self._oov_rank)

    def _transpose(self, rows: PairBlock) -> PairBlock:
        """Return the transposed pairs, sorted by the bytes of the former right words."""
        ranks = np.empty(len(self._order), np.int32)
        ranks[self._order] = np.arange(len(ranks), dtype=np.int32)
        transposed = transpose(rows._replace(right=self._positions[rows.right]), len(ranks))
        return transposed._replace(left=ranks[transposed.left])

    def _sums(self, rows: PairBlock, transposed: PairBlock) -> np.ndarray:
        """Return the marginals of the range, followed by the number of pairs of each word; see `add_sums`."""
        words = len(self._order)
        window = self._context_window
        sums = sum_counts([rows, transposed], window.size, window.summed, words)
        entries = np.zeros(words, np.int64)
        for block in (rows, transposed):
            # Sums of integers are exact in float64 up to 9e15.
            entries += np.bincount(block.left, block.length, words).astype(np.int64)
        return np.vstack([sums, entries])


@dataclass(frozen=True)
class LocateInput:
    """Pairs of a gathered range in one direction, and the ranges of the vocabulary to find in them."""

    uri: str
    """Their URI."""
    bounds: list[int]
    """Start of each range of the vocabulary, as a position among the words sorted by their bytes, followed by the
    number of words."""


@dataclass(frozen=True)
class LocatedRows:
    """Output of `LocateStage`."""

    uri: str
    """URI of the pairs."""
    row_ranges: list[RowRange]
    """Their rows in each range of the vocabulary."""


class LocateStage:
    """Stage that finds the rows of each range of the vocabulary in gathered pairs.

    Args:
        vocabulary: file of the vocabulary.
    """

    def __init__(self, vocabulary: VocabularyFile):
        self._order = vocabulary.read().row_order()

    def __call__(self, item: LocateInput) -> Iterator[LocatedRows]:
        """Yield the rows of each range of the vocabulary."""
        rows = np.searchsorted(self._order[read_left(item.uri)], item.bounds)
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(read_lengths(item.uri))])[rows]
        bounds = zip(pairwise(rows.tolist()), pairwise(ends.tolist()), strict=True)
        yield LocatedRows(item.uri, [RowRange(item.uri, *rows, *entries) for rows, entries in bounds])


def add_sums(work: str, names: Sequence[str], rows: range, words: int) -> np.ndarray:
    """Return the sum of the marginals of gathered ranges, or of the number of pairs of each word.

    Args:
        work: folder for temporary files.
        names: names of the ranges.
        rows: the blocks whose marginals are added up. A block has the pairs at one offset, or in the whole window. The
            row after the last block is the number of pairs of each word.
        words: number of words.

    Returns:
        (rows, words) int64.
    """
    sums = np.zeros((len(rows), words), np.int64)
    for name in names:
        for row, total in zip(rows, sums, strict=True):  # one at a time, because they are read into memory
            total += read_slice(gathered_uri(work, name, SUMS), row, row + 1)[0]
    return sums


def gathered_uri(work: str, name: str, kind: str) -> str:
    """Return the URI of a file, or of the pairs in a direction, of a gathered range."""
    return storage.join(work, "ranges", f"{name}-{kind}")
