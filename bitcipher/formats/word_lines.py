"""Lines of a word and its numbers, with one space between: what word2vec, GloVe and fastText share."""

import re
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import IO

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.csv

from bitcipher.errors import BitcipherError
from bitcipher.formats.row_blocks import Advance, blocks
from bitcipher.formats.table_builder import READ_BYTES, gather
from bitcipher.vectors import CipherVectors

HEADER = re.compile(rb"\s*(\d+)\s+(\d+)\s*")

# Lines that tell the number of dimensions, by what most of them have: one may hold a word with spaces, or be cut short.
TELLING_LINES = 100


def write_lines(vectors: CipherVectors, stream: IO[bytes], advance: Advance) -> None:
    """Write each word and its numbers: the fewest digits that give the same float32 when they are read."""
    for _, words, rows in blocks(vectors, advance):
        # orjson's floats are the shortest, and 30 times as fast as Python's.
        numbers = orjson.dumps(rows, option=orjson.OPT_SERIALIZE_NUMPY)[2:-2].replace(b",", b" ").split(b"] [")
        lines = (word.encode() + b" " + row for word, row in zip(words, numbers, strict=True))
        stream.write(b"\n".join(lines) + b"\n")


def read_lines(stream: IO[bytes], uri: str, has_header: bool | None, format: str) -> CipherVectors:
    """Read words and numbers; the last numbers of a line are the vector, and what stands before them is the word.

    Args:
        stream: the file, at its beginning.
        uri: its name, for errors.
        has_header: whether the first line says how many words and dimensions there are; found out if None.
        format: what the table is to say that it was read from.

    Raises:
        BitcipherError: if a line has too few numbers, or what is no number; or if the header says that there are more.
    """
    pieces = _lines(stream, uri)
    first_line, lines = next(pieces, (1, []))
    if not lines:
        raise BitcipherError(f"{uri} is empty: fetch it again.")
    header = HEADER.fullmatch(lines[0])
    translating_errors = filter(None, lines[bool(header) :][:TELLING_LINES])
    dims = Counter(line.count(b" ") for line in translating_errors).most_common(1)
    dims = dims[0][0] if dims else 0
    if has_header is None:
        # A line of one whole number after a word may be either; a header that is wrong is still one.
        has_header = header is not None and (int(header[2]) == dims or dims != 1)
    if has_header and not header:
        raise BitcipherError(f"Line 1 of {uri} should be the numbers of words and dimensions: leave the format out.")
    if dims < 1:
        raise BitcipherError(f"Line {1 + has_header} of {uri} is not a word with numbers after it: is it such a file?")
    if has_header:
        first_line, lines = 2, lines[1:]
        if int(header[2]) != dims:
            warnings.warn(f"{uri} says {int(header[2]):,} dimensions, but its lines have {dims:,}.", stacklevel=3)
    words, table = [], bytearray()
    while True:
        words += _parse(lines, first_line, dims, uri, table)
        first_line, lines = next(pieces, (0, []))
        if not lines:
            break
    if has_header and len(words) < int(header[1]):
        raise BitcipherError(
            f"{uri} says that it holds {int(header[1]):,} words, but it ends after {len(words):,}: it is cut short, or "
            "line 1 is wrong; fetch it again, or correct that line."
        )
    if has_header and len(words) > int(header[1]):
        warnings.warn(f"{uri} says {int(header[1]):,} words, but it holds {len(words):,}: all are read.", stacklevel=3)
    return gather(words, table, dims, uri, format)


def _lines(stream: IO[bytes], uri: str) -> Iterator[tuple[int, list[bytes]]]:
    number, rest = 1, b""
    while data := stream.read(READ_BYTES):
        rest += data
        *lines, last = rest.split(b"\n")
        if len(last) > READ_BYTES:
            raise BitcipherError(f"Line {number + len(lines)} of {uri} does not end: it is no text file of vectors.")
        if len(lines) > 1:  # a header alone would not tell how the lines look
            yield number, [line.rstrip(b" \t\r") for line in lines]
            number, rest = number + len(lines), last
    if rest.strip():
        yield number, [line.rstrip(b" \t\r") for line in rest.split(b"\n")]


def _parse(lines: list[bytes], first_line: int, dims: int, uri: str, table: bytearray) -> list[bytes]:
    words, rests, places = [], [], []
    for place, line in enumerate(lines, first_line):
        if not line:
            continue
        # Most words hold no space, and to count is cheaper than to split.
        spaces = line.count(b" ")
        if spaces < dims:
            raise BitcipherError(
                f"Line {place:,} of {uri} has {spaces:,} numbers after its word instead of {dims:,}: it is cut short "
                "or damaged there; fetch it again."
            )
        word = line.partition(b" ")[0] if spaces == dims else line.rsplit(b" ", dims)[0]
        words.append(word)
        rests.append(line[len(word) + 1 :])
        places.append(place)
    if rests:
        table += _numbers(rests, places, dims, uri).tobytes()
    return words


def _numbers(rests: list[bytes], places: list[int], dims: int, uri: str) -> np.ndarray:
    # Arrow's parser rounds once, to float32, and is the fastest that there is: 80 ns a number.
    text = b"\n".join(rests)
    names = [str(column) for column in range(dims)]
    try:
        columns = pyarrow.csv.read_csv(
            pa.BufferReader(text),
            pyarrow.csv.ReadOptions(use_threads=False, block_size=len(text) + 1, column_names=names),
            pyarrow.csv.ParseOptions(delimiter=" ", quote_char=False, ignore_empty_lines=False),
            pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(names, pa.float32()), null_values=[]),
        ).columns
    except pa.ArrowInvalid:
        raise BitcipherError(_where_no_number(rests, places, uri)) from None
    rows = np.empty((len(rests), dims), "<f4")
    for column, values in enumerate(columns):
        rows[:, column] = values.to_numpy()
    return rows


def _where_no_number(rests: list[bytes], places: list[int], uri: str) -> str:
    for place, rest in zip(places, rests, strict=True):
        for field in rest.split(b" "):
            try:
                float(field)
            except ValueError:
                return f"Line {place:,} of {uri} holds {field[:40]!r} where a number should be: fetch it again."
    return f"Lines {places[0]:,} to {places[-1]:,} of {uri} hold what is not a number: fetch it again."
