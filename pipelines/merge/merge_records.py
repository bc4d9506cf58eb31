"""Inputs and outputs of the stages of a merge."""

from dataclasses import dataclass

import numpy as np

from bitcipher.counts.row_ranges import RowRange
from bitcipher.counts.word_ranges import WordRange
from pipelines.merge.number_tables import NumberTable


@dataclass(frozen=True)
class SumInput:
    """A range of the words of a merge, to add up."""

    merge: str
    """Name of the merged segment."""
    index: int
    """Number of the range of words."""
    words: WordRange
    """The range."""
    members: list[list[str]]
    """URIs of the parts of each segment that is added."""
    subtracted: list[list[str]]
    """URIs of the parts of each segment that is subtracted."""


@dataclass(frozen=True)
class SummedWords:
    """Output of `SumStage`: a range of words, added up."""

    merge: str
    """Name of the merged segment."""
    index: int
    """Number of the range of words."""
    counts: np.ndarray
    """(c,) int64, the distinct counts of the words, descending."""
    frequencies: np.ndarray
    """(c,) int64, number of words with each count."""

    @property
    def words(self) -> int:
        """Number of words."""
        return int(self.frequencies.sum())

    @property
    def types(self) -> int:
        """Number of words with a count above 0, which were not subtracted completely."""
        return int(self.frequencies[self.counts > 0].sum())


@dataclass(frozen=True)
class NumberInput:
    """A range of the words of a merge, to number."""

    merge: str
    """Name of the merged segment."""
    index: int
    """Number of the range of words."""
    words: WordRange
    """The range."""
    first_numbers: np.ndarray
    """(c,) int64, number of the first word of the range with each of the counts of `SummedWords`."""
    operands: list[list[str]]
    """URIs of the parts of each operand; members come before subtracted segments."""
    tables: list[NumberTable]
    """Tables to write: the number of each word of each operand in the merged segment, and the hashes of all words."""


@dataclass(frozen=True)
class NumberedWords:
    """Output of `NumberStage`: a range of words, numbered, and split by the memory that merging its rows takes."""

    merge: str
    """Name of the merged segment."""
    index: int
    """Number of the range of words."""
    bounds: list[tuple[int, int]]
    """Start and stop of each range of rows, as positions in the sorted words of the range."""
    row_ranges: list[list[list[RowRange]]]
    """Rows of each operand in each range of rows."""
    piece_entries: int
    """Maximum number of pairs of a word that are merged at once."""
    operand_words: list[int]
    """Number of words of each operand in the range."""


@dataclass(frozen=True)
class OrderInput:
    """A slice of a number table whose pieces are combined."""

    table: NumberTable
    slice: int
    """Number of the slice."""


@dataclass(frozen=True)
class RangeRows:
    """Rows of one operand in a range of rows."""

    sign: int
    """1 to add the rows, -1 to subtract them."""
    numbers: NumberTable
    """Number of each word of the operand in the merged segment."""
    row_ranges: list[RowRange]
    """The rows, one row range per part of the operand."""


@dataclass(frozen=True)
class MergeInput:
    """A range of the words of a merge, and its rows."""

    merge: str
    """Name of the merged segment."""
    index: int
    """Number of the part that is made."""
    words: int
    """Number of the range of words."""
    words_before: int
    """Number of words of the preceding ranges of words."""
    start: int
    """First word, as a position in the sorted words of the range of words."""
    stop: int
    """Word after the last one, as a position in the sorted words of the range of words."""
    piece_entries: int
    """Maximum number of pairs of a word that are merged at once."""
    hashes: NumberTable
    """Hashes of all words of the merged segment."""
    rows: list[RangeRows]
    """Rows of each operand that has rows in the range."""


@dataclass(frozen=True)
class MergedRange:
    """Output of `MergeStage`: a range of words, written as a part of the merged segment."""

    merge: str
    """Name of the merged segment."""
    index: int
    """Number of the part."""
    part: str
    """Path of the part, relative to the build."""
    sha256: str
    """SHA-256 of the file of words of the part."""
    entries: int
    """Number of pairs of the part."""
    digest: str
    """Digest of the words and pairs of the part."""
    was_done: bool
    """Whether an earlier attempt merged the range."""

    @property
    def metrics(self) -> dict[str, int]:
        """Sizes by name, which Ray exports as counters."""
        return {"entries": self.entries}
