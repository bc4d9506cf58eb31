"""Tables of words and vectors: their content, key lookup, and the folder that stores them."""

from bitcipher.table.keys import Key
from bitcipher.table.vector_folder import read_folder, write_folder
from bitcipher.table.vector_table import VectorTable

__all__ = ["Key", "VectorTable", "read_folder", "write_folder"]
