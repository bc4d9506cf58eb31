"""Text lines of a word and its values: shared by word2vec, GloVe and fastText.

Spaces and tabs separate a word from its values, and the values. Words can hold single spaces.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import IO

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.csv

from bitcipher.errors import BitcipherError
from bitcipher.files.decompression import reading_decompressed
from bitcipher.files.text_files import TextStream, extend_ascii
from bitcipher.formats.bad_lines import NUMBER, describe_line
from bitcipher.formats.line_layout import LineLayout, find_layout
from bitcipher.formats.row_blocks import Advance, iter_blocks
from bitcipher.formats.table_builder import MAX_VECTOR_SIZE, TableBuilder, check_skipped, warn_caller
from bitcipher.formats.word_decoder import WordDecoder
from bitcipher.table.vector_table import VectorTable

# Bytes per read. Short lines take many times their bytes while a block is split into Python objects.
READ_BYTES = 1 << 20

# Maximum length of a line: 32 characters per value of the longest vector.
MAX_LINE_BYTES = 32 * MAX_VECTOR_SIZE


def write_lines(table: VectorTable, stream: IO[bytes], advance: Advance) -> None:
    """Write each word and its values, with the fewest digits that give the same float32 when they are read."""
    for _, words, rows in iter_blocks(table, advance):
        # orjson writes the shortest floats, 30 times as fast as Python.
        values = orjson.dumps(rows, option=orjson.OPT_SERIALIZE_NUMPY)[2:-2].replace(b",", b" ").split(b"] [")
        lines = (word.encode() + b" " + row for word, row in zip(words, values, strict=True))
        stream.write(b"\n".join(lines) + b"\n")


def read_lines(
    uri: str, may_have_header: bool, format: str, encoding: str | None = None, errors: str = "strict"
) -> VectorTable:
    """Read words and vectors. The last values of a line are the vector; everything before them is the word.

    Args:
        uri: a text file, with or without gzip.
        may_have_header: whether the first line can hold the numbers of words and dimensions.
        format: name of the format, which the manifest records.
        encoding: encoding of the file; by default that of its byte-order mark, or UTF-8.
        errors: what to do with words that are not text in this encoding; see `WordDecoder`.

    Raises:
        BitcipherError: if a line does not end in the values of a vector, if the header has other numbers of words and
            dimensions, or if a word is not text.
    """
    with reading_decompressed(uri) as stream:
        text, codec = extend_ascii(stream, uri, encoding)
        decoder = WordDecoder(uri, codec, errors, "Line")
        blocks = _iter_line_blocks(text, uri)
        numbers, lines = next(blocks, ((), []))
        if not lines:
            raise BitcipherError(f"{uri} is empty: fetch it again.")
        layout = find_layout(numbers, lines, may_have_header, uri)
        parser = _LineParser(layout, uri)
        builder = TableBuilder(layout.vector_size, uri, format)
        start = 0 if layout.header_words is None else 1
        for block_numbers, block in chain([(numbers[start:], lines[start:])], blocks):
            words, values = parser.parse(block_numbers, block)
            builder.add(decoder.decode(words, block_numbers), values.data)
    _check_word_count(parser.lines, layout, uri)
    parser.warn()
    return builder.build(decoder.damaged)


def _check_word_count(words: int, layout: LineLayout, uri: str) -> None:
    declared = layout.header_words
    if declared is not None and words < declared:
        raise BitcipherError(
            f"{uri} ends after {words:,} words, but its header says {declared:,}. It is cut short, or line 1 is "
            "wrong: fetch it again, or correct that line."
        )
    if declared is not None and words > declared:
        raise BitcipherError(
            f"{uri} holds {words:,} words, but its header says {declared:,}: fetch it again, or correct line 1. If "
            'that line is a word and its value, read the file with format="glove".'
        )


def _iter_line_blocks(stream: TextStream, uri: str) -> Iterator[tuple[Sequence[int], list[bytes]]]:
    """Yield blocks of lines that are not blank, without their ends: their numbers, counted from 1, and the lines.

    The first block has at least two lines if the file has them, because a header alone does not show the layout.
    """
    number, words, rest, is_last = 1, 0, b"", False
    first: tuple[Sequence[int], list[bytes]] = (), []
    while not is_last:
        data = stream.read(READ_BYTES)
        is_last = not data
        rest += data
        if b"\r" in rest:
            # The line break after a carriage return can be in the next block.
            end = b"\r" if rest.endswith(b"\r") and not is_last else b""
            rest = rest.removesuffix(end).replace(b"\r\n", b"\n").replace(b"\r", b"\n") + end
        *lines, rest = rest.split(b"\n")
        if is_last and rest:
            lines.append(rest)
        if len(rest) > MAX_LINE_BYTES:
            raise BitcipherError(f"Line {number + len(lines)} of {uri} does not end: it is not a text file of vectors.")
        numbers, kept = _leave_out_blank(number, [line.rstrip(b" \t") for line in lines])
        _check_columns(numbers, kept, uri)
        number, words = number + len(lines), words + len(kept)
        check_skipped(number - 1 - words, words, "blank lines", uri)
        numbers, kept = [*first[0], *numbers] if first[0] else numbers, first[1] + kept
        if len(kept) == 1 == words and not is_last:
            first = numbers, kept
        elif kept:
            yield numbers, kept
            first = (), []


def _check_columns(numbers: Sequence[int], lines: list[bytes], uri: str) -> None:
    for number, line in zip(numbers, lines, strict=True):
        # Shorter lines have fewer columns. Counting comes before splitting, which takes 20 times the memory.
        if len(line) > MAX_VECTOR_SIZE and line.count(b" ") + line.count(b"\t") > MAX_VECTOR_SIZE:
            raise BitcipherError(
                f"Line {number:,} of {uri} has more than {MAX_VECTOR_SIZE:,} spaces and tabs, but a vector has at most "
                f"{MAX_VECTOR_SIZE:,} values: the file is not a table of vectors, or its line breaks are missing."
            )


def _leave_out_blank(number: int, lines: list[bytes]) -> tuple[Sequence[int], list[bytes]]:
    """Return the numbers of the lines that are not blank, and these lines."""
    if all(lines):
        return range(number, number + len(lines)), lines
    numbered = [each for each in enumerate(lines, number) if each[1]]
    return [number for number, _ in numbered], [line for _, line in numbered]


# Kinds of unusual words, in the order of their warnings.
_EMPTY = "are empty, because a line begins with a separator"
_PADDED = "are followed by several spaces, which are not part of them"
_GAPPED = "hold a tab or several spaces, which are part of them"
_INDENTED = "begin with white space, which is part of them"
_NUMERIC = "end in a number, which is part of them"


class _LineParser:
    """Splits lines into words and values, and counts unusual words for warnings."""

    def __init__(self, layout: LineLayout, uri: str):
        self._layout, self._uri = layout, uri
        self.lines = 0
        """Number of lines that were parsed."""
        self._last = 0
        self._unusual: Counter[str] = Counter()
        self._examples: dict[str, bytes] = {}

    def parse(self, numbers: Sequence[int], lines: list[bytes]) -> tuple[list[bytes], np.ndarray]:
        """Return the words of n lines, and their vectors, (n, d) float32."""
        words, texts = [], []
        size = self._layout.vector_size
        self.lines += len(lines)
        self._last = numbers[-1] if numbers else self._last
        for number, line in zip(numbers, lines, strict=True):
            # Most words hold no space, and counting is cheaper than splitting.
            if line.count(b" ") == size and not _has_wide_gap(line):
                word, _, text = line.partition(b" ")
            else:
                word, text = self._split(number, line)
            if not word:
                self._note(_EMPTY, word)
            words.append(word)
            texts.append(text)
        return words, _parse_values(texts, numbers, lines, size, self._uri)

    def warn(self) -> None:
        """Issue a warning for each kind of unusual lines, which names what was decided."""
        blank = self._last - self.lines - (self._layout.header_words is not None)
        if self._layout.warning:
            warn_caller(self._layout.warning)
        if self.lines and blank > 0:
            warn_caller(f"{self._uri} has {blank:,} blank lines between its words: they are skipped.")
        for kind in (_EMPTY, _PADDED, _GAPPED, _INDENTED, _NUMERIC):
            if count := self._unusual[kind]:
                word = self._examples[kind].decode("utf-8", "replace")
                warn_caller(f"{count:,} words of {self._uri} {kind}{f', such as {word!r}' if word else ''}.")

    def _note(self, kind: str, word: bytes) -> None:
        self._unusual[kind] += 1
        self._examples.setdefault(kind, word)

    def _split(self, number: int, line: bytes) -> tuple[bytes, bytes]:
        size = self._layout.vector_size
        fields = line.rsplit(None if _has_wide_gap(line) else b" ", size)
        is_indented = line[:1] in (b" ", b"\t")
        if len(fields) == size and is_indented:
            fields = [b"", *fields]
        if len(fields) <= size:
            raise BitcipherError(describe_line(number, line, size, self._uri))
        rest = line[len(fields[0]) :]
        # Splitting at white space also removes other characters than spaces and tabs from the end of the word.
        word = fields[0] + rest[: len(rest) - len(rest.lstrip())].rstrip(b" \t")
        rest = line[len(word) :]
        if _has_wide_gap(word):
            self._note(_GAPPED, word)
        if rest[1:2] in (b" ", b"\t") and not _has_wide_gap(rest.lstrip()):
            self._note(_PADDED, word)
        if word and is_indented:
            self._note(_INDENTED, word)
        _, space, last = word.rpartition(b" ")
        # A header decides that integers such as years are part of words; a decimal can be a value too much.
        if space and NUMBER.fullmatch(last) and (self._layout.header_words is None or b"." in last):
            self._note(_NUMERIC, word)
        return word, b" ".join(fields[1:])


def _has_wide_gap(line: bytes) -> bool:
    """Return whether a line has a separator that is not a single space."""
    return b"  " in line or b"\t" in line


def _parse_values(
    texts: list[bytes], numbers: Sequence[int], lines: list[bytes], vector_size: int, uri: str
) -> np.ndarray:
    if not texts:
        return np.empty((0, vector_size), "<f4")
    # Arrow's parser rounds only once, to float32, and was the fastest of those tested: 50 ns per value. All values are
    # one column, because each column takes kilobytes.
    text = b" ".join(texts).replace(b" ", b"\n")
    try:
        column = pyarrow.csv.read_csv(
            pa.BufferReader(text),
            pyarrow.csv.ReadOptions(use_threads=False, block_size=len(text) + 1, column_names=["value"]),
            pyarrow.csv.ParseOptions(delimiter=" ", quote_char=False, ignore_empty_lines=False),
            pyarrow.csv.ConvertOptions(column_types={"value": pa.float32()}, null_values=[]),
        ).column(0)
    except pa.ArrowInvalid:
        raise BitcipherError(_describe_invalid_value(texts, numbers, lines, vector_size, uri)) from None
    return column.to_numpy().reshape(len(texts), vector_size)


def _describe_invalid_value(
    texts: list[bytes], numbers: Sequence[int], lines: list[bytes], vector_size: int, uri: str
) -> str:
    for number, text, line in zip(numbers, texts, lines, strict=True):
        if not all(map(NUMBER.fullmatch, text.split(b" "))):
            return describe_line(number, line, vector_size, uri)
    return f"Lines {numbers[0]:,} to {numbers[-1]:,} of {uri} hold an invalid number: fetch it again."
