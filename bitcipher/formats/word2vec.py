"""word2vec's text format: a header, then lines of a word and its values."""

from bitcipher.files import storage
from bitcipher.formats.row_blocks import Advance
from bitcipher.formats.word_lines import read_lines, write_lines
from bitcipher.table.vector_table import VectorTable


def write(table: VectorTable, target: str, advance: Advance) -> None:
    """Write the text file with its header: the numbers of words and of dimensions."""
    with storage.writing_new(target) as stream:
        stream.write(f"{len(table)} {table.vector_size}\n".encode())
        write_lines(table, stream, advance)


def read(uri: str, encoding: str | None = None, errors: str = "strict") -> VectorTable:
    """Read the file, with or without a header; see `read_lines`."""
    return read_lines(uri, True, "word2vec", encoding, errors)
