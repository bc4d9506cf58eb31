"""fastText's .vec files, which have word2vec's text format."""

from bitcipher.formats.word2vec import write
from bitcipher.formats.word_lines import read_lines
from bitcipher.table.vector_table import VectorTable

__all__ = ["read", "write"]


def read(uri: str) -> VectorTable:
    """Read the file, with or without a header; see `read_lines`."""
    return read_lines(uri, True, "fasttext")
