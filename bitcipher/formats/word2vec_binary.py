"""word2vec's binary format: the numbers of words and dimensions, then each word, a space and its values as float32."""

import re
from collections.abc import Iterator
from typing import IO

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.files.decompression import reading_decompressed
from bitcipher.files.text_files import UTF8, check_encoding
from bitcipher.formats.line_layout import HEADER
from bitcipher.formats.row_blocks import Advance, iter_blocks
from bitcipher.formats.table_builder import MAX_VECTOR_SIZE, TableBuilder, warn_caller
from bitcipher.formats.word_decoder import WordDecoder
from bitcipher.table.vector_table import VectorTable

# Maximum length of a header or word. It detects a damaged file before the file fills the memory.
MAX_BYTES = 1 << 20

# Bytes per read: enough that the cost of a call does not matter.
READ_BYTES = 1 << 20

# Control characters except white space. Text has few, and none in its values; most vectors have many.
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_UNUSUAL = re.compile(rb"[\x00-\x1f]")


class NotBinaryError(BitcipherError):
    """A file does not have the structure of word2vec's binary format."""


def write(table: VectorTable, target: str, advance: Advance) -> None:
    """Write the file, with a line break after each vector, as the word2vec tool does."""
    with storage.writing_new(target) as stream:
        stream.write(f"{len(table)} {table.vector_size}\n".encode())
        for _, words, rows in iter_blocks(table, advance):
            stream.writelines(
                word.encode() + b" " + row.tobytes() + b"\n" for word, row in zip(words, rows, strict=True)
            )


def read(uri: str, encoding: str | None = None, errors: str = "strict") -> VectorTable:
    """Read the file, with or without gzip, and with or without line breaks between vectors (gensim writes none).

    Args:
        uri: the file.
        encoding: encoding of the words, by default UTF-8.
        errors: what to do with words that are not text in this encoding; see `WordDecoder`.

    Raises:
        NotBinaryError: if the file has another format, is cut short, or has data after its last word.
        BitcipherError: if a word is not text, or a value is not finite.
    """
    decoder = WordDecoder(uri, check_encoding(encoding or UTF8), errors, "Word")
    unusual, example = 0, b""
    with reading_decompressed(uri) as stream:
        expected, vector_size = _read_header(stream, uri)
        builder = TableBuilder(vector_size, uri, "word2vec-binary")
        first = 1
        for words, values in _iter_blocks(stream, expected, 4 * vector_size, uri):
            builder.add(decoder.decode(words, range(first, first + len(words))), values)
            first += len(words)
            found = [word for word in words if _UNUSUAL.search(word)]
            unusual, example = unusual + len(found), example or b"".join(found[:1])
    if unusual:
        warn_caller(
            f"{unusual:,} words of {uri} hold control characters, such as {example[:40]!r}. If the file should "
            "have words with spaces, they are wrong: this format cannot hold such words."
        )
    return builder.build(decoder.damaged)


def _read_header(stream: IO[bytes], uri: str) -> tuple[int, int]:
    """Return the numbers of words and dimensions."""
    header = HEADER.fullmatch(stream.readline(MAX_BYTES))
    words, vector_size = map(int, header.groups()) if header else (0, 0)
    if not 0 < vector_size <= MAX_VECTOR_SIZE:
        raise NotBinaryError(f"Line 1 of {uri} must hold the numbers of words and dimensions: check the format.")
    return words, vector_size


def _iter_blocks(stream: IO[bytes], expected: int, size: int, uri: str) -> Iterator[tuple[list[bytes], bytearray]]:
    """Yield words and their vectors, `size` bytes each, as they are read."""
    words, values, chunk, start = [], bytearray(), b"", 0
    number = 1
    breaks = 0
    while number <= expected:
        space = chunk.find(b" ", start)
        if space < 0 and len(chunk) - start > MAX_BYTES:
            raise NotBinaryError(f"Word {number:,} of {uri} does not end: the file is damaged, fetch it again.")
        if space < 0 or space + 1 + size > len(chunk):
            yield words, values
            words, values = [], bytearray()
            more = stream.read(READ_BYTES)
            if not more:
                raise NotBinaryError(
                    f"{uri} ends within word {number:,} of {expected:,}: it is cut short, fetch it again."
                )
            chunk, start = chunk[start:] + more, 0
            continue
        word = chunk[start:space].removeprefix(b"\n")
        breaks += len(word) < space - start
        # The word2vec tool writes a line break before each word but the first, and gensim before none.
        if not word or b"\n" in word or b"\0" in word or breaks not in (0, number - 1):
            raise NotBinaryError(
                f"Word {number:,} of {uri} is empty, or has a line break or a NUL character: the file is "
                "damaged, its format is another, or its words have spaces."
            )
        words.append(word)
        number += 1
        start = space + 1 + size
        values += chunk[space + 1 : start]
    yield words, values
    rest = chunk[start:]
    while not rest.strip(b"\n"):
        rest = stream.read(READ_BYTES)
        if not rest:
            return
    raise NotBinaryError(
        f"{uri} has data after the {expected:,} words of its header: fetch it again, or correct line 1."
    )
