"""Construction of a table from the words and values of a file, with checks for duplicates and for finite values."""

import sys
import warnings
from typing import Any

import numpy as np
import pyarrow as pa

from bitcipher.errors import BitcipherError
from bitcipher.table import VectorTable

# Bytes per read: enough that the cost of a call does not matter.
READ_BYTES = 8 << 20


def build_table(
    words: list[str], values: bytearray, vector_size: int, uri: str, format: str, damaged: int = 0
) -> VectorTable:
    """Return the table of words and vectors that were read from a file.

    The first of repeated words is used, as in gensim. Repeated and damaged words give one warning each per file.

    Args:
        words: the N words.
        values: the N vectors, end to end, as little-endian float32.
        vector_size: number of dimensions.
        uri: the file, for messages.
        format: name of the format, which the manifest records.
        damaged: number of words from which bytes were removed or replaced.

    Raises:
        BitcipherError: if there are no words, or if a vector holds a value that is not finite.
    """
    if not words:
        raise BitcipherError(f"{uri} contains no words: fetch it again.")
    vectors = np.frombuffer(values, "<f4").reshape(len(words), vector_size)
    distinct = len(set(words))
    if distinct < len(words):
        first_rows: dict[str, int] = {}
        for row, word in enumerate(words):
            first_rows.setdefault(word, row)
        warn_caller(f"{uri} repeats {len(words) - distinct:,} words: the first vector of each is used.")
        words, vectors = list(first_rows), vectors[list(first_rows.values())]
    replaced = sum("\ufffd" in word for word in words)
    if damaged or replaced:
        warn_caller(f"{uri} has {max(damaged, replaced):,} words with U+FFFD or with bytes that could not be decoded.")
    return check_table(uri, format, pa.array(words, pa.large_string()), vectors)


def check_table(uri: str, format: str, words: Any, vectors: np.ndarray, *counts: Any) -> VectorTable:
    """Return the table of the words, vectors, counts and passages of a file, whose name is in all error messages.

    Raises:
        BitcipherError: if the numbers of words and vectors differ, a word is repeated or missing, or a vector holds a
            value that is not finite.
    """
    try:
        return VectorTable(words, vectors, *counts, manifest={"read_from": format})
    except BitcipherError as error:
        raise BitcipherError(f"{uri} cannot be used: {error}") from None


def warn_caller(message: str) -> None:
    """Issue a warning that names the line, outside this library, from which the library was called."""
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals["__name__"].startswith("bitcipher."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)
