"""GloVe's text format: lines of a word and its values, without a header."""

from bitcipher.files import storage
from bitcipher.formats.row_blocks import Advance
from bitcipher.formats.word_lines import read_lines, write_lines
from bitcipher.table.vector_table import VectorTable


def write(table: VectorTable, target: str, advance: Advance) -> None:
    """Write the text file without a header."""
    with storage.writing_new(target) as stream:
        write_lines(table, stream, advance)


def read(uri: str, encoding: str | None = None, errors: str = "strict") -> VectorTable:
    """Read the text file without a header; see `read_lines`."""
    return read_lines(uri, False, "glove", encoding, errors)
