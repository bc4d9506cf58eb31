"""Writer of word2vec's text format, also fastText's .vec: a header, then lines of a word and its values."""

from bitcipher import storage
from bitcipher.formats.row_blocks import Advance
from bitcipher.formats.word_lines import write_lines
from bitcipher.table import VectorTable


def write(table: VectorTable, target: str, advance: Advance) -> None:
    """Write the file."""
    with storage.writing(target) as stream:
        stream.write(f"{len(table)} {table.vector_size}\n".encode())
        write_lines(table, stream, advance)
