"""Counts of words as word2vec writes them (`fvocab` in gensim): lines of a word, a space and its count."""

import os
import re

import numpy as np

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.files.text_files import read_lines
from bitcipher.formats.table_builder import warn_caller
from bitcipher.table.vector_table import VectorTable

# Lines are split from their ends, because words can hold spaces.
_SEPARATOR = re.compile(r"[ \t]+")
_COUNT = re.compile(r"\d{1,18}")


def write_counts(uri: str | os.PathLike[str], table: VectorTable) -> None:
    """Write the words and counts of a table. An existing file is replaced."""
    with storage.writing(os.fspath(uri)) as stream:
        counts = table.counts if table.counts is not None else []
        for word, count in zip(table.index_to_key, counts, strict=True):
            stream.write(f"{word} {count}\n".encode())


def read_counts(uri: str | os.PathLike[str], words: list[str], encoding: str | None = None) -> np.ndarray:
    """Return the counts of words, (n,) int64. Words that are not in the file have the count 0, with a warning.

    Args:
        uri: text file of words and counts. Blank lines are skipped.
        words: the n words.
        encoding: encoding of the file; by default that of its byte-order mark, or UTF-8.

    Raises:
        BitcipherError: if the file is missing or not text, a line is not a word and its count, or a word has two
            counts.
    """
    uri = os.fspath(uri)
    counts: dict[str, int] = {}
    for number, line in enumerate(read_lines(uri, encoding), 1):
        if not line.strip():
            continue
        fields = _SEPARATOR.split(line.rstrip(" \t")[::-1], maxsplit=1)
        if len(fields) < 2 or not _COUNT.fullmatch(fields[0]):
            raise BitcipherError(f"Line {number:,} of {uri} is not a word, a space and its count.")
        count, word = int(fields[0][::-1]), fields[1][::-1]
        if counts.setdefault(word, count) != count:
            raise BitcipherError(f"Line {number:,} of {uri} has another count of {word!r}: remove one of them.")
    if missing := sum(word not in counts for word in words):
        warn_caller(f"{uri} has no count of {missing:,} of the {len(words):,} words: their count is 0.")
    return np.array([counts.get(word, 0) for word in words], np.int64)
