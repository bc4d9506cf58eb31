"""Text lines of a word and its values, separated by single spaces: shared by word2vec, GloVe and fastText."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import IO

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.csv

from bitcipher.errors import BitcipherError
from bitcipher.formats.decompression import reading_decompressed
from bitcipher.formats.row_blocks import Advance, iter_blocks
from bitcipher.formats.table_builder import READ_BYTES, build_table, warn_caller
from bitcipher.table import VectorTable

# Numbers with more digits than int64 belong to a word and its values.
HEADER = re.compile(rb"\s*(\d{1,18})\s+(\d{1,18})\s*")

# Number of lines that determine the number of dimensions. The most common number is used, since a word can contain
# spaces and a line can be cut short.
SAMPLED_LINES = 100


def write_lines(table: VectorTable, stream: IO[bytes], advance: Advance) -> None:
    """Write each word and its values, with the fewest digits that give the same float32 when they are read."""
    for _, words, rows in iter_blocks(table, advance):
        # orjson writes the shortest floats, 30 times as fast as Python.
        values = orjson.dumps(rows, option=orjson.OPT_SERIALIZE_NUMPY)[2:-2].replace(b",", b" ").split(b"] [")
        lines = (word.encode() + b" " + row for word, row in zip(words, values, strict=True))
        stream.write(b"\n".join(lines) + b"\n")


def read_lines(uri: str, has_header: bool | None, format: str) -> VectorTable:
    """Read words and vectors. The last values of a line are the vector; everything before them is the word.

    Args:
        uri: a text file, with or without gzip.
        has_header: whether the first line holds the numbers of words and dimensions. None means to detect this.
        format: name of the format, which the manifest records.

    Raises:
        BitcipherError: if a line has too few values or an invalid one, or if there are fewer words than the header
            says.
    """
    with reading_decompressed(uri) as stream:
        return _parse_file(stream, uri, has_header, format)


def _parse_file(stream: IO[bytes], uri: str, has_header: bool | None, format: str) -> VectorTable:
    blocks = _iter_line_blocks(stream, uri)
    first_line, lines = next(blocks, (1, []))
    if not lines:
        raise BitcipherError(f"{uri} is empty: fetch it again.")
    header = HEADER.fullmatch(lines[0])
    header_words, header_size = map(int, header.groups()) if header else (0, 0)
    sample = filter(None, lines[bool(header) :][:SAMPLED_LINES])
    most_common = Counter(line.count(b" ") for line in sample).most_common(1)
    vector_size = most_common[0][0] if most_common else 0
    if has_header is None:
        # A numeric word with a vector of one integer looks like a header. If lines have one value, the first line is
        # therefore a header only if it declares one dimension.
        has_header = header is not None and (header_size == vector_size or vector_size != 1)
    if has_header and not header:
        raise BitcipherError(
            f"Line 1 of {uri} must hold the numbers of words and dimensions: leave out the format to detect it."
        )
    if vector_size < 1:
        raise BitcipherError(f"Line {1 + has_header} of {uri} is not a word followed by numbers: check the format.")
    if has_header:
        first_line, lines = 2, lines[1:]
        if header_size != vector_size:
            warn_caller(f"The header of {uri} says {header_size:,} dimensions, but its lines have {vector_size:,}.")
    words, values = [], bytearray()
    while True:
        words += _parse_lines(lines, first_line, vector_size, uri, values)
        first_line, lines = next(blocks, (0, []))
        if not lines:
            break
    if has_header and len(words) < header_words:
        raise BitcipherError(
            f"{uri} ends after {len(words):,} words, but its header says {header_words:,}. It is cut short, or "
            "line 1 is wrong: fetch it again, or correct that line."
        )
    if has_header and len(words) > header_words:
        warn_caller(f"The header of {uri} says {header_words:,} words, but it holds {len(words):,}: all are read.")
    return build_table(words, values, vector_size, uri, format)


def _iter_line_blocks(stream: IO[bytes], uri: str) -> Iterator[tuple[int, list[bytes]]]:
    """Yield blocks of lines: the number of the first line, counted from 1, and the lines."""
    number, rest = 1, b""
    while data := stream.read(READ_BYTES):
        rest += data
        *lines, last = rest.split(b"\n")
        if len(last) > READ_BYTES:
            raise BitcipherError(f"Line {number + len(lines)} of {uri} does not end: it is not a text file of vectors.")
        if len(lines) > 1:  # the number of dimensions cannot be taken from a header alone
            yield number, [line.rstrip(b" \t\r") for line in lines]
            number, rest = number + len(lines), last
    if rest.strip():
        yield number, [line.rstrip(b" \t\r") for line in rest.split(b"\n")]


def _parse_lines(lines: list[bytes], first_line: int, vector_size: int, uri: str, values: bytearray) -> list[bytes]:
    """Return the words of lines, and append their vectors as float32 bytes to `values`."""
    words, texts, numbers = [], [], []
    for number, line in enumerate(lines, first_line):
        if not line:
            continue
        # Most words hold no space, and counting is cheaper than splitting.
        spaces = line.count(b" ")
        if spaces < vector_size:
            raise BitcipherError(
                f"Line {number:,} of {uri} has {spaces:,} values after its word instead of {vector_size:,}: it is cut "
                "short or damaged, fetch it again."
            )
        word = line.partition(b" ")[0] if spaces == vector_size else line.rsplit(b" ", vector_size)[0]
        words.append(word)
        texts.append(line[len(word) + 1 :])
        numbers.append(number)
    if texts:
        values += _parse_values(texts, numbers, vector_size, uri).tobytes()
    return words


def _parse_values(texts: list[bytes], line_numbers: list[int], vector_size: int, uri: str) -> np.ndarray:
    # Arrow's parser rounds only once, to float32, and was the fastest of those tested: 80 ns per value.
    text = b"\n".join(texts)
    names = [str(column) for column in range(vector_size)]
    try:
        columns = pyarrow.csv.read_csv(
            pa.BufferReader(text),
            pyarrow.csv.ReadOptions(use_threads=False, block_size=len(text) + 1, column_names=names),
            pyarrow.csv.ParseOptions(delimiter=" ", quote_char=False, ignore_empty_lines=False),
            pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(names, pa.float32()), null_values=[]),
        ).columns
    except pa.ArrowInvalid:
        raise BitcipherError(_describe_invalid_value(texts, line_numbers, uri)) from None
    rows = np.empty((len(texts), vector_size), "<f4")
    for column, values in enumerate(columns):
        rows[:, column] = values.to_numpy()
    return rows


def _describe_invalid_value(texts: list[bytes], line_numbers: list[int], uri: str) -> str:
    for number, text in zip(line_numbers, texts, strict=True):
        for field in text.split(b" "):
            try:
                float(field)
            except ValueError:
                return f"Line {number:,} of {uri} holds {field[:40]!r} instead of a number: fetch it again."
    return f"Lines {line_numbers[0]:,} to {line_numbers[-1]:,} of {uri} hold an invalid number: fetch it again."
