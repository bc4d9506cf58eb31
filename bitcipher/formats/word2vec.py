"""word2vec's text format, also fastText's .vec: a header, then a word and its numbers a line."""

from bitcipher import storage
from bitcipher.formats.row_blocks import Advance
from bitcipher.formats.word_lines import write_lines
from bitcipher.vectors import CipherVectors


def write(vectors: CipherVectors, target: str, advance: Advance) -> None:
    """Write the file."""
    with storage.writing(target) as stream:
        stream.write(f"{len(vectors)} {vectors.vector_size}\n".encode())
        write_lines(vectors, stream, advance)
