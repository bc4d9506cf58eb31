"""Numba kernels that replace words in chunks of ASCII text by the shapes of the words, see `shaped_rule`."""

import numpy as np

from bitcipher.kernel_cache import kernel

# Number of letters of the shape of a word. Words with fewer letters are not replaced.
SHAPE_LETTERS = 4

_SHAPE = np.uint8(ord("q"))
_CASE_BIT = np.uint8(0x20)


@kernel
def write_shapes(text, offsets, reserved, shapes, ends):
    """Write the shape of each chunk: the chunk with qqqq, Qqqq or QQQQ instead of words.

    Args:
        text: (bytes,) uint8, ASCII text of all chunks.
        offsets: (chunks + 1,) int64, start of each chunk in `text`, and the end of the last.
        reserved: (words,) uint64, sorted hashes of the words that are not replaced.
        shapes: (bytes,) uint8, output: the shapes.
        ends: (chunks,) int64, output: end of each shape.
    """
    n = 0
    for chunk in range(len(offsets) - 1):
        at, stop = offsets[chunk], offsets[chunk + 1]
        while at < stop:
            end = _word_end(text, at, stop)
            if end > at and _has_shape(text, at, end, reserved):
                second = _SHAPE & ~_CASE_BIT if text[at + 1] < 97 else _SHAPE
                shapes[n] = _SHAPE & ~_CASE_BIT if text[at] < 97 else _SHAPE
                shapes[n + 1 : n + SHAPE_LETTERS] = second
                n += SHAPE_LETTERS
                at = end
            else:
                end = max(end, at + 1)
                while at < end:
                    shapes[n] = text[at]
                    n += 1
                    at += 1
        ends[chunk] = n


@kernel
def cut_chunks(text, offsets, reserved, shape_of_chunk, cut_starts, cuts, ends):
    """Write the end of each token of each chunk, and return their number.

    Args:
        text, offsets, reserved: as for `write_shapes`.
        shape_of_chunk: (chunks,) integers, number of the shape of each chunk.
        cut_starts: (shapes + 1,) int64, start of the tokens of each shape in `cuts`, and the end of the last.
        cuts: int64, the end of each token in its shape.
        ends: int64, output: the end of each token in `text`.
    """
    n = 0
    for chunk in range(len(offsets) - 1):
        at, stop = offsets[chunk], offsets[chunk + 1]
        shape = shape_of_chunk[chunk]
        in_shape = 0
        cut = cut_starts[shape]
        while at < stop:
            end = _word_end(text, at, stop)
            if end > at and _has_shape(text, at, end, reserved):
                in_shape += SHAPE_LETTERS
                at = end
                if cuts[cut] == in_shape:
                    ends[n] = at
                    n += 1
                    cut += 1
            else:
                end = max(end, at + 1)
                while at < end:
                    in_shape += 1
                    at += 1
                    if cuts[cut] == in_shape:
                        ends[n] = at
                        n += 1
                        cut += 1
    return n


@kernel
def hash_words(text, offsets):
    """Return the hash of each word without regard to case, (words,) uint64."""
    hashes = np.empty(len(offsets) - 1, np.uint64)
    for word in range(len(hashes)):
        hashes[word] = _hash(text, offsets[word], offsets[word + 1])
    return hashes


@kernel(inline="always")
def _word_end(text, at, stop):
    """Return the end of the letters that begin at a position."""
    while at < stop and 97 <= text[at] | _CASE_BIT <= 122:
        at += 1
    return at


@kernel
def _has_shape(text, start, end, reserved):
    """Return whether a word is replaced: lowercase, uppercase or capitalized, not too short, and not reserved."""
    if end - start < SHAPE_LETTERS:
        return False
    is_upper = text[start + 1] < 97
    if is_upper and text[start] >= 97:
        return False
    for i in range(start + 2, end):
        if (text[i] < 97) != is_upper:
            return False
    code = _hash(text, start, end)
    position = np.searchsorted(reserved, code)
    return position == len(reserved) or reserved[position] != code


@kernel
def _hash(text, start, end):
    """Return the FNV-1a hash of letters in lowercase."""
    code = np.uint64(0xCBF29CE484222325)
    for i in range(start, end):
        code = (code ^ np.uint64(text[i] | _CASE_BIT)) * np.uint64(0x100000001B3)
    return code
