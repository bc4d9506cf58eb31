"""A folder for NumPy: vectors.npy, words.txt with a word a line in the same order, counts.npy if there are any."""

import numpy as np

from bitcipher import storage
from bitcipher.errors import BitcipherError
from bitcipher.formats.row_blocks import Advance, blocks, new_folder
from bitcipher.formats.table_builder import check_numbers
from bitcipher.vectors import CipherVectors

VECTORS = "vectors.npy"
WORDS = "words.txt"
COUNTS = "counts.npy"


def write(vectors: CipherVectors, target: str, advance: Advance) -> None:
    """Write the folder. The vectors can be mapped into memory by `np.load(..., mmap_mode="r")`."""
    with new_folder(target) as folder:
        with storage.writing(storage.join(folder, VECTORS)) as stream:
            header = {"descr": "<f4", "fortran_order": False, "shape": vectors.vectors.shape}
            np.lib.format.write_array_header_1_0(stream, header)
            for _, _, rows in blocks(vectors, advance):
                stream.write(rows.tobytes())
        with storage.writing(storage.join(folder, WORDS)) as stream:
            stream.writelines(word.encode() + b"\n" for word in vectors.index_to_key)
        if vectors.counts is not None:
            with storage.writing(storage.join(folder, COUNTS)) as stream:
                np.lib.format.write_array(stream, vectors.counts, allow_pickle=False)


def read(uri: str) -> CipherVectors:
    """Read such a folder.

    Raises:
        BitcipherError: if a file is damaged, or if the files do not agree.
    """
    words = (storage.read_bytes(storage.join(uri, WORDS)) or b"").decode("utf-8", "replace").split("\n")
    if words[-1] == "":
        words.pop()
    counts = _load(storage.join(uri, COUNTS)) if storage.exists(storage.join(uri, COUNTS)) else None
    vectors = CipherVectors(words, _load(storage.join(uri, VECTORS)), counts, manifest={"read_from": "numpy"})
    check_numbers(vectors, uri)
    return vectors


def _load(uri: str) -> np.ndarray:
    try:
        with storage.reading(uri) as stream:
            return np.load(stream, allow_pickle=False)
    except (ValueError, EOFError, MemoryError) as error:
        raise BitcipherError(f"{uri} is not an array of numbers, or it is damaged: {error}.") from None
