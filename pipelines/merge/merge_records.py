"""Inputs and outputs of the stages of a merge."""

from dataclasses import dataclass

from bitcipher.counts import RowRange


@dataclass(frozen=True)
class SumInput:
    """Operands of a merge."""

    merge: str
    """Name of the merged segment."""
    members: list[list[str]]
    """URIs of the parts of each segment that is added."""
    subtracted: list[list[str]]
    """URIs of the parts of each segment that is subtracted."""


@dataclass(frozen=True)
class SummedWords:
    """Output of `SumStage`: the ranges of the words of a merge."""

    merge: str
    """Name of the merged segment."""
    ranges: list[tuple[int, int]]
    """Start and stop of each range, as positions in the sorted words."""
    types: int
    """Number of words with a count above 0."""


@dataclass(frozen=True)
class NumberInput:
    """An operand of a merge, and the ranges of words to find in it."""

    merge: str
    """Name of the merged segment."""
    operand: int
    """Number of the operand; members come before subtracted segments."""
    parts: list[str]
    """URIs of the parts of the operand."""
    range_starts: list[int]
    """First word of each range, as a position in the sorted words."""


@dataclass(frozen=True)
class NumberedOperand:
    """Output of `NumberStage` for an operand."""

    merge: str
    """Name of the merged segment."""
    operand: int
    """Number of the operand."""
    row_ranges: list[list[RowRange]]
    """Rows of the operand in each range of words."""


@dataclass(frozen=True)
class RangeRows:
    """Rows of one operand in a range of words."""

    operand: int
    """Number of the operand."""
    sign: int
    """1 to add the rows, -1 to subtract them."""
    row_ranges: list[RowRange]
    """The rows, one row range per part of the operand."""


@dataclass(frozen=True)
class MergeInput:
    """A range of the words of a merge, and its rows."""

    merge: str
    """Name of the merged segment."""
    index: int
    """Number of the range."""
    start: int
    """First word, as a position in the sorted words."""
    stop: int
    """Word after the last one, as a position in the sorted words."""
    rows: list[RangeRows]
    """Rows of each operand that has rows in the range."""


@dataclass(frozen=True)
class MergedRange:
    """Output of `MergeStage`: a range of words, written as a part of the merged segment."""

    merge: str
    """Name of the merged segment."""
    index: int
    """Number of the range."""
    part: str
    """Path of the part, relative to the build."""
    sha256: str
    """SHA-256 of the file of words of the part."""
    entries: int
    """Number of pairs of the part."""
    digest: str
    """Digest of the words and pairs of the part."""

    @property
    def metrics(self) -> dict[str, int]:
        """Sizes by name, which Ray exports as counters."""
        return {"entries": self.entries}
