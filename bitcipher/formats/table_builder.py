"""Construction of a table from the words and values of a file, with checks for duplicates and for finite values."""

import sys
import warnings
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bitcipher.errors import BitcipherError
from bitcipher.table.repeated_words import may_repeat
from bitcipher.table.vector_table import VectorTable

# Maximum number of dimensions of a text or binary file: 1 MiB per vector. It is far above those of real tables, whose
# widest have some ten thousand, and detects a damaged file before the file fills the memory.
MAX_VECTOR_SIZE = 1 << 18

# Bytes of new words and vectors after which repeated words are removed, if there are not more of them already.
COMPACT_BYTES = 32 << 20

# Repeated words or blank lines make up a file that is no table if there are more than this number, and more than
# ten per word. A small compressed file can hold billions of them.
MAX_SKIPPED = 1 << 20
MAX_SKIPPED_PER_WORD = 10


class TableBuilder:
    """Collects the words and vectors of a file, and makes a table with checks for duplicates and for finite values.

    The first of repeated words is used, as in gensim. Memory is at most about twice that of the table, and
    `COMPACT_BYTES`, however often words are repeated.

    Args:
        vector_size: number of dimensions.
        uri: the file, for messages.
        format: name of the format, which the manifest records.
    """

    def __init__(self, vector_size: int, uri: str, format: str):
        self._vector_size, self._uri, self._format = vector_size, uri, format
        self._words: list[pa.LargeStringArray] = []
        self._values = bytearray()
        self._repeated = 0
        self._next_compact = COMPACT_BYTES

    def add(self, words: list[str], vectors: memoryview | bytearray) -> None:
        """Add words, and their vectors end to end, as little-endian float32.

        Raises:
            BitcipherError: if the file consists of repeated words.
        """
        self._words.append(pa.array(words, pa.large_string()))
        self._values += vectors
        if self._bytes > self._next_compact:
            self._remove_repeated()
            self._next_compact = 2 * self._bytes + COMPACT_BYTES

    @property
    def _bytes(self) -> int:
        return len(self._values) + sum(words.nbytes for words in self._words)

    def _remove_repeated(self) -> None:
        words = pa.concat_arrays(self._words or [pa.array([], pa.large_string())])
        self._words = [words]
        if not may_repeat(words):
            return
        # Numbers of words are given in order of their first occurrence.
        highest = np.maximum.accumulate(np.asarray(words.dictionary_encode().indices))
        rows = np.flatnonzero(np.diff(highest, prepend=-1))
        self._repeated += len(words) - len(rows)
        check_skipped(self._repeated, len(rows), "repeated words", self._uri)
        kept = np.frombuffer(self._values, "<f4").reshape(len(words), self._vector_size)[rows]
        self._words, self._values = [words.take(pa.array(rows))], bytearray()
        self._values += kept.data

    def build(self, damaged: int = 0) -> VectorTable:
        """Return the table. Repeated and damaged words give one warning each per file.

        Args:
            damaged: number of words from which bytes were removed or replaced.

        Raises:
            BitcipherError: if there are no words, or if a vector holds a value that is not finite.
        """
        self._remove_repeated()
        (words,) = self._words
        if not len(words):
            raise BitcipherError(f"{self._uri} contains no words: fetch it again.")
        if self._repeated:
            warn_caller(f"{self._uri} repeats {self._repeated:,} words: the first vector of each is used.")
        replaced = pc.sum(pc.match_substring(words, "\ufffd")).as_py() or 0
        if damaged or replaced:
            warn_caller(
                f"{self._uri} has {max(damaged, replaced):,} words with U+FFFD or with bytes that could not be decoded."
            )
        vectors = np.frombuffer(self._values, "<f4").reshape(len(words), self._vector_size)
        return check_table(self._uri, self._format, words, vectors)


def check_skipped(skipped: int, words: int, what: str, uri: str) -> None:
    """Check that a file does not consist of what is skipped.

    Args:
        skipped: number of repeated words, or of blank lines.
        words: number of words besides.
        what: what is skipped, in the plural.
        uri: the file.

    Raises:
        BitcipherError: if there are more than `MAX_SKIPPED`, and more than `MAX_SKIPPED_PER_WORD` per word.
    """
    if skipped > max(MAX_SKIPPED, MAX_SKIPPED_PER_WORD * words):
        raise BitcipherError(
            f"{uri} is not a table of vectors: its beginning has {skipped:,} {what} and {words:,} other words."
        )


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
