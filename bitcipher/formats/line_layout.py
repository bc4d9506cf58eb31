"""Layout of a text file of vectors: its header, if it has one, and its number of dimensions.

A header decides if every line ends in as many numbers as it declares; words can then hold spaces and numbers. Without a
header, the most common number of fields after the first decides, if every line ends in as many numbers.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from bitcipher.errors import BitcipherError
from bitcipher.formats.bad_lines import (
    count_numbers,
    describe_line,
    find_common_separator,
    find_separator,
    split_fields,
)

# Numbers with more digits than int64 belong to a word and its values.
HEADER = re.compile(rb"\s*(\d{1,18})\s+(\d{1,18})\s*")

# Number of lines from which the layout is found. The other lines are compared with it when they are read.
SAMPLED_LINES = 100


class LineLayout(NamedTuple):
    """Layout of a text file of vectors."""

    header_words: int | None
    """Number of words that the header declares; None without a header."""
    vector_size: int
    """Number of dimensions."""
    warning: str | None = None
    """Sentence about a decision of the header."""


class _SampledLine(NamedTuple):
    number: int
    line: bytes
    fields: int
    """Number of fields after the first."""
    numbers: int
    """Number of these that are numbers, up to the end of the line."""


def find_layout(numbers: Sequence[int], lines: Sequence[bytes], may_have_header: bool, uri: str) -> LineLayout:
    """Return the layout of a file from its first lines.

    Args:
        numbers: numbers of the lines, counted from 1.
        lines: the lines that are not blank.
        may_have_header: whether the first line can be a header.
        uri: the file, for error messages.

    Raises:
        BitcipherError: if a line does not end in the values of a vector, or the header has another number of
            dimensions than the lines.
    """
    header = HEADER.fullmatch(lines[0]) if may_have_header else None
    start = 1 if header else 0
    sample = [_sample(n, line) for n, line in zip(numbers[start:], lines[start : start + SAMPLED_LINES], strict=False)]
    if header:
        layout = _check_header(LineLayout(int(header[1]), int(header[2])), sample, uri)
    else:
        layout = LineLayout(None, Counter(each.fields for each in sample).most_common(1)[0][0])
        _check_lines(layout, sample, uri)
    words = [each.line.rsplit(None, layout.vector_size)[0] for each in sample]
    if separator := find_common_separator(words):
        example = words[0][:40].decode("utf-8", "replace")
        raise BitcipherError(
            f"The words of {uri} are followed by {separator}, as in {example!r}: separate each word and its values by "
            "spaces or tabs only."
        )
    return layout


def _sample(number: int, line: bytes) -> _SampledLine:
    _, fields = split_fields(line)
    return _SampledLine(number, line, len(fields), count_numbers(fields))


def _check_header(layout: LineLayout, sample: list[_SampledLine], uri: str) -> LineLayout:
    size = layout.vector_size
    counts = {each.numbers for each in sample}
    if size and all(count >= size for count in counts):
        if len(counts) == 1 and counts != {size}:
            warning = (
                f"Every line of {uri} ends in {counts.pop():,} numbers, but its header says {size:,} dimensions: the "
                "other numbers are read as parts of words. If they are values, correct line 1."
            )
            return layout._replace(warning=warning)
        return layout
    agree = len(counts) == 1 and 0 not in counts and not any(find_separator(each.line) for each in sample)
    if agree or not size:
        raise BitcipherError(
            f"The header of {uri} says {size:,} dimensions, but its lines have {max(counts, default=0):,}: correct "
            'line 1, or read the file with format="glove" if that line is a word and its value.'
        )
    _check_lines(layout, sample, uri)
    return layout


def _check_lines(layout: LineLayout, sample: list[_SampledLine], uri: str) -> None:
    size = layout.vector_size
    bad = next((each for each in sample if not size or each.numbers < size), None)
    if bad:
        raise BitcipherError(describe_line(bad.number, bad.line, size, uri))
