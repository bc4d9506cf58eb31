"""Hashes of the words of texts, computed from the UTF-8 bytes of an Arrow array.

All keys are hashes of words or of sequences of words, so a text is decoded and normalized in one pass, without Python
strings. The hashes are fixed: stored keys of earlier runs are compared with those of later runs.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bitcipher.kernel_cache import kernel
from bitcipher.splitmix import GOLDEN, MIX_1, MIX_2
from pipelines.duplicates.characters import IGNORED, NUMBER, SEPARATOR, SINGLE, character_table

# Bytes of text that are hashed at a time. The arrays of a slice need up to eight times its bytes, for text of one
# letter per word.
SLICE_BYTES = 4 << 20

_32 = np.uint64(32)

_INVALID = 0  # code point that stands for bytes that are not UTF-8; it is a separator
_NEWLINE = 10
_SINGLE = np.uint32(SINGLE)


class HashedWords(NamedTuple):
    """Words of some consecutive documents."""

    first: int
    """Index of the first document in the array."""
    words: np.ndarray
    """(words,) uint64, the hash of each word."""
    line_ends: np.ndarray
    """(lines,) int64, the end of each line in `words`. A line ends at a newline or at the end of its document."""
    document_ends: np.ndarray
    """(documents,) int64, the end of each document in `line_ends`."""

    @property
    def word_ends(self) -> np.ndarray:
        """(documents,) int64, the end of each document in `words`."""
        return self.line_ends[self.document_ends - 1]


def as_text(texts: pa.Array | pa.ChunkedArray) -> pa.LargeStringArray:
    """Return texts as one array without nulls; a null becomes an empty text."""
    array = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    return pc.fill_null(array.cast(pa.large_string()), "")


def hash_words(texts: pa.LargeStringArray, fold_numbers: bool) -> Iterator[HashedWords]:
    """Yield the hashes of the words of all documents, in slices of about `SLICE_BYTES` of text.

    Args:
        texts: from `as_text`. Bytes that are not UTF-8 separate words.
        fold_numbers: hash all runs of digits as the same number.
    """
    if not len(texts):
        return
    _, offset_buffer, data_buffer = texts.buffers()
    offsets = np.frombuffer(offset_buffer, np.int64)[texts.offset :][: len(texts) + 1]
    data = np.frombuffer(data_buffer, np.uint8) if data_buffer else np.zeros(0, np.uint8)
    table = character_table(fold_numbers)
    first = 0
    while first < len(texts):
        stop = max(first + 1, int(np.searchsorted(offsets, offsets[first] + SLICE_BYTES, "right")) - 1)
        ends = offsets[first : stop + 1]
        text = data[ends[0] : ends[-1]]
        documents = len(ends) - 1
        # A word has at least one byte and a separator, or three bytes if it is a single character.
        words = np.empty(len(text) // 2 + documents + 1, np.uint64)
        line_ends = np.empty(np.count_nonzero(text == _NEWLINE) + documents, np.int64)
        document_ends = np.empty(documents, np.int64)
        n = _hash_words(text, ends - ends[0], table, words, line_ends, document_ends)
        yield HashedWords(first, words[:n], line_ends, document_ends)
        first = stop


@kernel
def hash_sequences(words, ends, seed):
    """Return a hash of each sequence of words, (sequences,) uint64. The number of words is part of the hash.

    Args:
        words: (words,) uint64.
        ends: (sequences,) int64, the end of each sequence in `words`.
        seed: uint64. Hashes with different seeds are independent.
    """
    hashes = np.empty(len(ends), np.uint64)
    start = 0
    for i in range(len(ends)):
        value = mix(seed + np.uint64(ends[i] - start))
        for position in range(start, ends[i]):
            value = extend_hash(value, words[position])
        hashes[i] = mix(value)
        start = ends[i]
    return hashes


@kernel
def extend_hash(value, item):
    """Return the hash of a sequence and one more item. All are uint64 numbers, or arrays of them in plain Python."""
    value = (value ^ item) * GOLDEN
    return value ^ (value >> _32)


@kernel
def mix(value):
    """Return the finalizer of SplitMix64, a bijection of uint64 numbers that spreads each bit over all bits."""
    value = value + GOLDEN
    value = (value ^ (value >> np.uint64(30))) * MIX_1
    value = (value ^ (value >> np.uint64(27))) * MIX_2
    return value ^ (value >> np.uint64(31))


@kernel
def _hash_words(data, offsets, table, words, line_ends, document_ends):
    """Fill the output arrays of `HashedWords`, and return the number of words."""
    n = 0
    lines = 0
    for document in range(len(offsets) - 1):
        at, end = offsets[document], offsets[document + 1]
        value = np.uint64(0)
        last = np.uint32(SEPARATOR)  # the preceding character of the word; a separator outside of words
        while at < end:
            code = np.int64(data[at])
            at += 1
            if code >= 128:
                code, at = _decode(data, at, end)
            entry = table[code]
            if entry == IGNORED or (entry == NUMBER and last == NUMBER):
                continue
            if entry != SEPARATOR and entry < _SINGLE:
                value = extend_hash(value, np.uint64(entry))
                last = entry
                continue
            if last != SEPARATOR:
                words[n] = mix(value)
                n += 1
                value = np.uint64(0)
                last = np.uint32(SEPARATOR)
            if entry >= _SINGLE:
                words[n] = mix(extend_hash(np.uint64(0), np.uint64(entry)))
                n += 1
            elif code == _NEWLINE:
                line_ends[lines] = n
                lines += 1
        if last != SEPARATOR:
            words[n] = mix(value)
            n += 1
        line_ends[lines] = n
        lines += 1
        document_ends[document] = lines
    return n


@kernel
def _decode(data, at, end):
    """Return the code point whose first byte is before `at`, and the position after it."""
    first = np.int64(data[at - 1])
    if first < 0xC2 or first > 0xF4:
        return _INVALID, at
    length = 1 if first < 0xE0 else 2 if first < 0xF0 else 3
    if at + length > end:
        return _INVALID, at
    code = first & (0x3F >> length)
    for i in range(length):
        byte = np.int64(data[at + i])
        if byte & 0xC0 != 0x80:
            return _INVALID, at
        code = code << 6 | (byte & 0x3F)
    if code >= 0x110000:
        return _INVALID, at
    return code, at + length
