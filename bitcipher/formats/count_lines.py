"""Counts of words as word2vec writes them (`fvocab` in gensim): lines of a word, a space and its count."""

import os
import re

import numpy as np

from bitcipher import storage
from bitcipher.errors import BitcipherError
from bitcipher.table import VectorTable

_LINE = re.compile(r"(.+) (\d{1,18})")


def write_counts(uri: str | os.PathLike[str], table: VectorTable) -> None:
    """Write the words and counts of a table. An existing file is replaced."""
    with storage.writing(os.fspath(uri)) as stream:
        counts = table.counts if table.counts is not None else []
        for word, count in zip(table.index_to_key, counts, strict=True):
            stream.write(f"{word} {count}\n".encode())


def read_counts(uri: str | os.PathLike[str], words: list[str]) -> np.ndarray:
    """Return the counts of words, (n,) int64; 0 for words that are not in the file.

    Raises:
        BitcipherError: if the file is missing, or a line is not a word and its count.
    """
    counts: dict[str, int] = {}
    with storage.reading(os.fspath(uri)) as stream:
        for number, line in enumerate(stream, 1):
            match = _LINE.fullmatch(line.decode("utf-8", "replace").rstrip("\r\n"))
            if not match:
                raise BitcipherError(f"Line {number:,} of {os.fspath(uri)} is not a word, a space and its count.")
            counts[match[1]] = int(match[2])
    return np.array([counts.get(word, 0) for word in words], np.int64)
