"""Stages of a merge that process the words: they are added up, and numbered by rank.

A word's number is its rank by count in the whole segment, but each worker sees a range of the words, in the order of
their bytes. The ranks follow from how many words of each range have each count.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bitcipher.counts.digest import word_hashes
from bitcipher.counts.row_ranges import RowRange, find_row_ranges
from bitcipher.counts.segment import SEGMENT_WORDS
from bitcipher.counts.segment_words import cut_ranges, merge_words
from bitcipher.counts.word_ranges import WordRange, ranges_from
from bitcipher.files import parquet_files, storage
from pipelines.merge.merge_records import (
    NumberedWords,
    NumberInput,
    OrderInput,
    SumInput,
    SummedWords,
)
from pipelines.runtime.memory_budget import BYTES_PER_MERGED, BYTES_PER_WORD


class SumStage:
    """Stage that adds up a range of words.

    Args:
        work: folder for temporary files.
    """

    def __init__(self, work: str):
        self._work = work

    def __call__(self, item: SumInput) -> Iterator[SummedWords]:
        """Yield the counts of a range."""
        words = merge_words(item.members, item.subtracted, item.words)
        parquet_files.write_table(_summed_file(self._work, item.merge, item.index), words)
        counts, frequencies = np.unique(words["count"].to_numpy(), return_counts=True)
        yield SummedWords(item.merge, item.index, counts[::-1], frequencies[::-1])


def first_numbers(ranges: Sequence[SummedWords]) -> list[np.ndarray]:
    """Return the number of the first word with each count, for each range of the words of a merge.

    Words are numbered by count, descending, and those with the same count in the order of their bytes.

    Args:
        ranges: the ranges, in order.
    """
    every, inverse = np.unique(np.concatenate([-each.counts for each in ranges]), return_inverse=True)
    totals = np.zeros(len(every), np.int64)
    np.add.at(totals, inverse, np.concatenate([each.frequencies for each in ranges]))
    following = np.cumsum(totals) - totals
    numbers = []
    for each in ranges:
        positions = np.searchsorted(every, -each.counts)
        numbers.append(following[positions])
        following[positions] += each.frequencies
    return numbers


class NumberStage:
    """Stage that numbers the words of a range, maps the words of all operands to these numbers, and finds the rows.

    Args:
        work: folder for temporary files.
        range_size: maximum number of rows and entries (stored pairs) of a range.
        max_size: maximum number of rows and entries that a worker can hold. The words of the range take some of this
            memory, so ranges have fewer.
    """

    def __init__(self, work: str, range_size: int, max_size: int):
        self._work = work
        self._range_size = range_size
        self._max_size = max_size

    def __call__(self, item: NumberInput) -> Iterator[NumberedWords]:
        """Yield the ranges of rows, and the rows of each operand in them."""
        words = parquet_files.read_table(_summed_file(self._work, item.merge, item.index))
        numbers = _number(words["count"].to_numpy(), item.first_numbers)
        sizes, words = words["size"].to_numpy(), words.drop_columns(["size"]).append_column("number", pa.array(numbers))
        parquet_files.write_table(words_file(self._work, item.merge, item.index), words)
        names = words["word"].combine_chunks()
        *tables, hash_table = item.tables
        first, second = word_hashes(names).T
        hash_table.write(item.index, numbers, {"first": first, "second": second})
        # A range can have a word more than its maximum size, so a word of more than half of the memory is merged alone.
        piece_entries = max(1, _size_beside(self._max_size, len(words)) // 2)
        bounds = cut_ranges(sizes, _size_beside(self._range_size, len(words)), piece_entries)
        starts = names.take(pa.array([start for start, _ in bounds], pa.int64())).cast(pa.large_binary())
        ranges = ranges_from(starts.to_pylist(), item.words.stop)
        own, row_ranges = zip(*(_read_operand(parts, item.words, ranges) for parts in item.operands), strict=True)
        # One lookup for all operands, because Arrow makes an index of all words for each lookup.
        every = pa.concat_tables(own).combine_chunks()
        found = numbers[np.asarray(pc.index_in(every["word"].combine_chunks(), names), np.int64)]
        operand_words = [len(each) for each in own]
        mine, merged = (np.split(each, np.cumsum(operand_words)[:-1]) for each in (every["number"].to_numpy(), found))
        for table, operand_numbers, merged_numbers in zip(tables, mine, merged, strict=True):
            table.write(item.index, operand_numbers, {"number_in_merge": merged_numbers})
        yield NumberedWords(item.merge, item.index, bounds, list(row_ranges), piece_entries, operand_words)


class OrderStage:
    """Stage that puts the pieces of number tables together."""

    def __call__(self, item: OrderInput) -> Iterator[int]:
        """Yield the number of the slice when it is written."""
        item.table.combine(item.slice)
        yield item.slice


def words_file(work: str, merge: str, index: int) -> str:
    """Return the URI of the words of a range with their numbers."""
    return storage.join(work, merge, f"words-{index:05d}.parquet")


def _size_beside(size: int, words: int) -> int:
    """Return how many of a number of rows and entries a worker can hold beside the words of a range."""
    return max(size - words * BYTES_PER_WORD // BYTES_PER_MERGED, size // 4, 1)


def _summed_file(work: str, merge: str, index: int) -> str:
    return storage.join(work, merge, f"summed-{index:05d}.parquet")


def _read_operand(parts: list[str], words: WordRange, ranges: list[WordRange]) -> tuple[pa.Table, list[list[RowRange]]]:
    """Return the words of a range with their numbers in an operand, and the operand's rows in each of some ranges.

    Args:
        parts: URIs of the parts of the operand.
        words: the range of words.
        ranges: ranges of words, to find the rows of.
    """
    selected = [SEGMENT_WORDS.empty_table().select(["word", "number"])]

    def select(table: pa.Table) -> None:
        selected.append(words.select(table.select(["word", "number"])))

    row_ranges: list[list[RowRange]] = [[] for _ in ranges]
    for part in parts:
        for rows, row_range in zip(row_ranges, find_row_ranges(part, ranges, select), strict=True):
            rows += [row_range] if row_range else []
    return pa.concat_tables(selected), row_ranges


def _number(counts: np.ndarray, first_numbers: np.ndarray) -> np.ndarray:
    """Return the number of each word of a range, (words,) int32.

    Args:
        counts: (words,) int64, count of each word.
        first_numbers: (c,) int64, number of the first word with each distinct count, in descending order of counts.
    """
    order = np.argsort(-counts, kind="stable")
    starts = np.flatnonzero(np.diff(counts[order], prepend=-1))
    lengths = np.diff(starts, append=len(counts))
    numbers = np.empty(len(counts), np.int32)
    numbers[order] = np.repeat(first_numbers - starts, lengths) + np.arange(len(counts))
    return numbers
