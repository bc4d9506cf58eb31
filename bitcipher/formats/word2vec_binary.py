"""word2vec's binary format: the numbers of words and dimensions, then each word, a space and its values as float32."""

from typing import IO

from bitcipher import storage
from bitcipher.errors import BitcipherError
from bitcipher.formats.decompression import reading_decompressed
from bitcipher.formats.row_blocks import Advance, iter_blocks
from bitcipher.formats.table_builder import READ_BYTES, build_table, warn_caller
from bitcipher.formats.word_lines import HEADER
from bitcipher.table import VectorTable

# Maximum length of a header, word or vector. It detects a damaged file before the file fills the memory.
MAX_BYTES = 1 << 20


def write(table: VectorTable, target: str, advance: Advance) -> None:
    """Write the file, with a line break after each vector, as the word2vec tool does."""
    with storage.writing_new(target) as stream:
        stream.write(f"{len(table)} {table.vector_size}\n".encode())
        for _, words, rows in iter_blocks(table, advance):
            stream.writelines(
                word.encode() + b" " + row.tobytes() + b"\n" for word, row in zip(words, rows, strict=True)
            )


def read(uri: str) -> VectorTable:
    """Read the file, with or without gzip, and with or without line breaks between vectors (gensim writes none).

    Raises:
        BitcipherError: if the file has another format, or is cut short or damaged.
    """
    with reading_decompressed(uri) as stream:
        return _parse_file(stream, uri)


def _parse_file(stream: IO[bytes], uri: str) -> VectorTable:
    header = HEADER.fullmatch(stream.readline(MAX_BYTES))
    expected, vector_size = map(int, header.groups()) if header else (0, 0)
    size = 4 * vector_size
    if not 0 < size <= MAX_BYTES:
        raise BitcipherError(f"Line 1 of {uri} must hold the numbers of words and dimensions: check the format.")
    words, values, chunk, start = [], bytearray(), b"", 0
    while len(words) < expected:
        space = chunk.find(b" ", start)
        if space < 0 and len(chunk) - start > MAX_BYTES:
            raise BitcipherError(f"Word {len(words) + 1:,} of {uri} does not end: the file is damaged, fetch it again.")
        if space < 0 or space + 1 + size > len(chunk):
            more = stream.read(READ_BYTES)
            if not more:
                raise BitcipherError(
                    f"{uri} ends within word {len(words) + 1:,} of {expected:,}: it is cut short, fetch it again."
                )
            chunk, start = chunk[start:] + more, 0
            continue
        words.append(chunk[start:space].lstrip(b"\n"))
        start = space + 1 + size
        values += chunk[space + 1 : start]
    if chunk[start:].strip(b"\n") or stream.read(2).strip(b"\n"):
        warn_caller(f"{uri} has data after the {expected:,} words of its header: they are ignored.")
    return build_table(words, values, vector_size, uri, "word2vec-binary")
