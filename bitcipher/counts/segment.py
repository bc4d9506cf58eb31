"""A segment: the words and pairs of some text, complete and independent of any vocabulary (SPEC 2).

A shard's counts are a segment, and so is the sum of many. It consists of parts, each a range of words in the order
of their UTF-8 bytes, in three Parquet files that share a name:

    NAME.words.parquet     word, number, count, passages, rows int32, entries int64: a row a word, in that order
    NAME.rows.parquet      left, offset, length: the rows of the first word, then those of the next (see `pairs`)
    NAME.entries.parquet   right, count

A word's number stands for it in the pairs of all parts: its rank in the segment, so that numbers are mostly small.
"""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from bitcipher import storage
from bitcipher.counts.pairs import PairBlock, pair_files, write_pairs

SEGMENT_WORDS = pa.schema(
    [
        pa.field("word", pa.large_string(), nullable=False),
        pa.field("number", pa.int32(), nullable=False),
        pa.field("count", pa.int64(), nullable=False),
        pa.field("passages", pa.int64(), nullable=False),
        pa.field("rows", pa.int32(), nullable=False),
        pa.field("entries", pa.int64(), nullable=False),
    ]
)
"""The words of a part: their numbers, occurrences, passages that hold them, and the size of their rows."""


def part_files(uri: str) -> tuple[str, str, str]:
    """The three files of a part: words, rows and entries."""
    return f"{uri}.words.parquet", *pair_files(uri)


def write_part(
    uri: str,
    words: pa.LargeStringArray,
    numbers: np.ndarray,
    counts: np.ndarray,
    passages: np.ndarray,
    pairs: Iterable[PairBlock],
) -> int:
    """Write a part, its pairs first and its words last; returns how many entries it has.

    Args:
        uri: folder and name.
        words: (V,) in the order of their bytes.
        numbers, counts, passages: (V,) of each word.
        pairs: the rows of the words in their order, left words by number.
    """
    size = int(numbers.max()) + 1 if len(numbers) else 0
    rows, entries = np.zeros(size, np.int32), np.zeros(size, np.int64)
    for block in write_pairs(uri, pairs):
        np.add.at(rows, block.left, 1)
        np.add.at(entries, block.left, block.length)
    columns = [words, numbers, counts, passages, rows[numbers], entries[numbers]]
    table = pa.Table.from_arrays([pa.array(column) for column in columns], schema=SEGMENT_WORDS)
    storage.write_table(part_files(uri)[0], table)
    return int(entries.sum())


def read_words(parts: Iterable[str]) -> pa.Table:
    """The words of parts that follow one another, see `SEGMENT_WORDS`."""
    # A segment whose text has no word has no part.
    tables = (storage.read_table(part_files(part)[0]) for part in parts)
    return pa.concat_tables([SEGMENT_WORDS.empty_table(), *tables]).combine_chunks()


def remove_part(uri: str) -> None:
    """Remove the files of a part, as far as they are there."""
    for file in part_files(uri):
        storage.remove(file)
