"""Tables of words and vectors: their content, key lookup, and the folder that stores them."""

from bitcipher.table.keys import Key, Oov, check_oov
from bitcipher.table.vector_files import VectorFile, plan_files, vectors_digest, write_file
from bitcipher.table.vector_folder import TableFields, complete_folder, read_folder, write_folder
from bitcipher.table.vector_table import VectorTable

__all__ = [
    "Key",
    "Oov",
    "TableFields",
    "VectorFile",
    "VectorTable",
    "check_oov",
    "complete_folder",
    "plan_files",
    "read_folder",
    "vectors_digest",
    "write_file",
    "write_folder",
]
