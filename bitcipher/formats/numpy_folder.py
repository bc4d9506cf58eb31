"""Folder of NumPy arrays: vectors.npy, words.txt with one word per line, and counts.npy if the table has counts."""

import numpy as np

from bitcipher.files import storage
from bitcipher.files.text_files import read_lines
from bitcipher.formats.array_reader import read_array
from bitcipher.formats.row_blocks import Advance, iter_blocks
from bitcipher.formats.table_builder import check_table
from bitcipher.table.vector_table import VectorTable

VECTORS = "vectors.npy"
WORDS = "words.txt"
COUNTS = "counts.npy"


def write(table: VectorTable, target: str, advance: Advance) -> None:
    """Write the folder. `np.load(..., mmap_mode="r")` can memory-map the vectors."""
    with storage.writing_folder(target) as folder:
        with storage.writing(storage.join(folder, VECTORS)) as stream:
            header = {"descr": "<f4", "fortran_order": False, "shape": table.vectors.shape}
            np.lib.format.write_array_header_1_0(stream, header)
            for _, _, rows in iter_blocks(table, advance):
                stream.write(rows.tobytes())
        with storage.writing(storage.join(folder, WORDS)) as stream:
            stream.writelines(word.encode() + b"\n" for word in table.index_to_key)
        if table.counts is not None:
            with storage.writing(storage.join(folder, COUNTS)) as stream:
                np.lib.format.write_array(stream, table.counts, allow_pickle=False)


def read(uri: str) -> VectorTable:
    """Read the folder.

    Raises:
        BitcipherError: if a file is missing or damaged, `words.txt` is not text, or the files do not agree.
    """
    words = read_lines(storage.join(uri, WORDS))
    counts = read_array(storage.join(uri, COUNTS)) if storage.exists(storage.join(uri, COUNTS)) else None
    return check_table(uri, "numpy", words, read_array(storage.join(uri, VECTORS)), counts)
