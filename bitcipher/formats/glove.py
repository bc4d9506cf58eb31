"""GloVe's text format: a word and its numbers a line, without a header."""

from bitcipher import storage
from bitcipher.formats.row_blocks import Advance
from bitcipher.formats.word_lines import write_lines
from bitcipher.vectors import CipherVectors


def write(vectors: CipherVectors, target: str, advance: Advance) -> None:
    """Write the file."""
    with storage.writing(target) as stream:
        write_lines(vectors, stream, advance)
