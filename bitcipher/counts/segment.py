"""Segment files: all words and pairs of a text, independent of any vocabulary.

A segment holds the counts of a shard, or the sum of several. It consists of parts, each a range of words in the order
of their UTF-8 bytes. A part has three Parquet files that share a name:

    NAME.words.parquet     word, number, count, passages, rows, entries: one line per word, in the order of the words
    NAME.rows.parquet      left, offset, length: the rows of the first word, then those of the second, and so on
    NAME.entries.parquet   right, count: the pairs of all rows (see `bitcipher.counts.pairs`)

A word's number represents it in the pairs of all parts. It is the word's rank in the segment, so most numbers are
small.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from bitcipher.count_limits import check_word_counts
from bitcipher.counts.kernels import add_rows
from bitcipher.counts.pairs import PairBlock, add_name, check_name, pair_files, write_pairs
from bitcipher.errors import BitcipherError
from bitcipher.files import parquet_files, storage
from bitcipher.files.hashed_files import hashing

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
"""Schema of the words of a part. `rows` and `entries` are the numbers of rows and pairs with the word on the left."""


# Maximum number of words of a row group. A worker that reads a range of words reads whole row groups.
GROUP_WORDS = 1 << 16

# Names in the metadata of the file of words: the SHA-256 of the files of rows and of entries.
_HASHES = (b"bitcipher.rows", b"bitcipher.entries")


class WrittenPart(NamedTuple):
    """Result of `write_part`."""

    entries: int
    """Number of pairs."""
    sha256: str
    """SHA-256 of the file of words, in hexadecimal digits."""


def part_files(uri: str) -> tuple[str, str, str]:
    """Return the URIs of the three files of a part: words, rows and entries."""
    return f"{uri}.words.parquet", *pair_files(uri)


def write_part(
    uri: str,
    words: pa.LargeStringArray,
    numbers: np.ndarray,
    counts: np.ndarray,
    passages: np.ndarray,
    pairs: Iterable[PairBlock],
) -> WrittenPart:
    """Write a part. The file of words is written last. Its metadata holds the SHA-256 of the other two files.

    Args:
        uri: folder and name of the part, without the suffixes of its files.
        words: (V,) words in the order of their bytes.
        numbers: (V,) int32, the number of each word.
        counts: (V,) int64, occurrences of each word.
        passages: (V,) int64, number of passages that contain each word.
        pairs: blocks with the rows of the words, in the same order.

    """
    rows, entries = np.zeros(len(numbers), np.int32), np.zeros(len(numbers), np.int64)
    word = 0  # index of the word of the last row

    def add_up(block: PairBlock) -> None:
        nonlocal word
        word = add_rows(block.left, block.length, numbers, word, rows, entries)
        assert word < len(numbers) or not len(block.left), "rows are not in the order of the words"

    hashes = write_pairs(uri, pairs, add_up)
    columns = [words, numbers, counts, passages, rows, entries]
    file = part_files(uri)[0]
    schema = add_name(SEGMENT_WORDS.with_metadata(dict(zip(_HASHES, hashes, strict=True))), file)
    table = pa.Table.from_arrays([pa.array(column) for column in columns], schema=schema)
    with hashing(file) as stream:
        parquet_files.write_parquet(stream, table, GROUP_WORDS)
    return WrittenPart(int(entries.sum()), stream.sha256)


def read_pair_hashes(uri: str) -> tuple[str, str]:
    """Return the SHA-256 of the files of rows and entries of a part, which its file of words has.

    Raises:
        BitcipherError: if the file of words is missing or damaged.
    """
    metadata = parquet_files.read_table(part_files(uri)[0]).schema.metadata or {}
    rows, entries = (metadata.get(name, b"").decode() for name in _HASHES)
    return rows, entries


def read_words(parts: Iterable[str]) -> pa.Table:
    """Return the words of consecutive parts as one table with the schema `SEGMENT_WORDS`.

    Raises:
        BitcipherError: if a file is missing or damaged, or the counts are too large.
    """
    # The segment of a text without words has no parts.
    tables = (table for part in parts for table in iter_words(part))
    return pa.concat_tables([SEGMENT_WORDS.empty_table(), *tables]).combine_chunks()


def iter_words(part: str) -> Iterator[pa.Table]:
    """Yield the words of a part as tables of few words, with the schema `SEGMENT_WORDS`.

    Raises:
        BitcipherError: if the file is missing or damaged, or the counts are too large.
    """
    file = part_files(part)[0]
    for table in parquet_files.iter_table(file):
        _check_words(table, file)
        yield table


def iter_word_groups(part: str) -> Iterator["WordGroup"]:
    """Yield the row groups of the words of a part, none if it is empty. They are read on demand.

    Raises:
        BitcipherError: if the file is missing or damaged.
    """
    file = part_files(part)[0]
    return (WordGroup(file, group) for group in parquet_files.iter_row_groups(file))


class WordGroup(NamedTuple):
    """Row group of the words of a part."""

    uri: str
    """URI of the file of words."""
    group: parquet_files.RowGroup

    @property
    def words(self) -> int:
        """Number of words."""
        return self.group.rows

    def compare(self, start: bytes, stop: bytes | None) -> int:
        """Return -1 if all words are before `start`, 1 if all are `stop` or words after it, and else 0."""
        bounds = self.group.bounds(SEGMENT_WORDS.get_field_index("word"))
        if bounds is None:  # Arrow writes no bounds of very long words
            return 0
        first, last = (word.encode() for word in bounds)
        return -1 if last < start else 1 if stop is not None and first >= stop else 0

    def read(self) -> pa.Table:
        """Return the words, with the schema `SEGMENT_WORDS`.

        Raises:
            BitcipherError: if the file is damaged, or the counts are too large.
        """
        table = self.group.read()
        _check_words(table, self.uri)
        return table

    def sizes(self) -> tuple[int, int]:
        """Return the numbers of rows and of entries of the words. No words are read."""
        table = self.group.read(["rows", "entries"])
        rows, entries = (int(column.to_numpy().astype(np.int64).sum()) for column in table.columns)
        return rows, entries


def _check_words(table: pa.Table, uri: str) -> None:
    if table.schema != SEGMENT_WORDS or any(column.null_count for column in table.columns):
        raise BitcipherError(f"{uri} is damaged, because it does not have the columns of words: build again.")
    check_name(table.schema, uri)
    for name in ("count", "passages"):
        check_word_counts(table[name].to_numpy(), uri)


def check_numbers(numbers: np.ndarray) -> np.ndarray:
    """Check that the numbers of the words of a segment, (V,) int32, are the numbers from 0 to V - 1; return them.

    Raises:
        BitcipherError: if a number is missing.
    """
    found = np.zeros(len(numbers), np.bool_)
    found[numbers[(0 <= numbers) & (numbers < len(numbers))]] = True
    if not found.all():
        raise BitcipherError(
            "The words of a segment are damaged, because some of their numbers are missing: build again."
        )
    return numbers


def remove_part(uri: str) -> None:
    """Remove the files of a part, if they exist."""
    for file in part_files(uri):
        storage.remove(file)
