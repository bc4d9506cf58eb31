"""word2vec's binary format: a header as in its text, then each word, a space, and its float32 numbers as bytes."""

import warnings
from typing import IO

from bitcipher import storage
from bitcipher.errors import BitcipherError
from bitcipher.formats.row_blocks import Advance, blocks
from bitcipher.formats.table_builder import READ_BYTES, gather
from bitcipher.formats.word_lines import HEADER
from bitcipher.vectors import CipherVectors

# Longer than any header, word or vector of a sound file, so that a damaged one is told before it fills the memory.
LONGEST = 1 << 20


def write(vectors: CipherVectors, target: str, advance: Advance) -> None:
    """Write the file, with a line break after each vector as the tool of word2vec does."""
    with storage.writing(target) as stream:
        stream.write(f"{len(vectors)} {vectors.vector_size}\n".encode())
        for _, words, rows in blocks(vectors, advance):
            stream.writelines(
                word.encode() + b" " + row.tobytes() + b"\n" for word, row in zip(words, rows, strict=True)
            )


def read(stream: IO[bytes], uri: str) -> CipherVectors:
    """Read the file, with or without the line breaks, which gensim leaves out.

    Raises:
        BitcipherError: if it is of another format, cut short or damaged.
    """
    header = HEADER.fullmatch(stream.readline(LONGEST))
    size = 4 * int(header[2]) if header else 0
    if not 0 < size <= LONGEST:
        raise BitcipherError(f"Line 1 of {uri} is not the numbers of words and dimensions: is it of that format?")
    number = int(header[1])
    words, table, chunk, at = [], bytearray(), b"", 0
    while len(words) < number:
        space = chunk.find(b" ", at)
        if space < 0 and len(chunk) - at > LONGEST:
            raise BitcipherError(f"Word {len(words) + 1:,} of {uri} does not end: the file is damaged, fetch it again.")
        if space < 0 or space + 1 + size > len(chunk):
            more = stream.read(READ_BYTES)
            if not more:
                raise BitcipherError(
                    f"{uri} ends within word {len(words) + 1:,} of {number:,}: it is cut short, fetch it again."
                )
            chunk, at = chunk[at:] + more, 0
            continue
        words.append(chunk[at:space].lstrip(b"\n"))
        at = space + 1 + size
        table += chunk[space + 1 : at]
    if chunk[at:].strip(b"\n") or stream.read(2).strip(b"\n"):
        warnings.warn(f"{uri} goes on after the {number:,} words that it says it holds: they are read.", stacklevel=3)
    return gather(words, table, size // 4, uri, "word2vec-binary")
