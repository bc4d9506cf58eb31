"""Character n-grams of words, as 64-bit hashes."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bitcipher.kernel_cache import kernel

# Words have these marks around them, so a prefix or a suffix is a different n-gram than the same letters elsewhere
# (Bojanowski et al. 2017, "Enriching Word Vectors with Subword Information", section 3.1).
BEGIN, END = "<", ">"

# Constants of the hash FNV-1a in 64 bits.
_BASIS, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_SHIFT = np.uint64(29)


class NgramLists(NamedTuple):
    """Distinct n-grams of each word.

    Attributes:
        starts: (words + 1,) int64, the start of each word's n-grams.
        hashes: (n,) int64, hashes in ascending order per word. Among a million n-grams, two have the same hash with a
            probability of 3 · 10⁻⁸.
    """

    starts: np.ndarray
    hashes: np.ndarray


def list_ngrams(words: pa.LargeStringArray, lengths: tuple[int, int]) -> NgramLists:
    """Return the character n-grams of words.

    Args:
        words: the words.
        lengths: minimum and maximum number of characters. The marks around a word count.
    """
    begin, end, nothing = (pa.scalar(mark, pa.large_string()) for mark in (BEGIN, END, ""))
    marked = pc.binary_join_element_wise(begin, words, end, nothing)
    codes = np.frombuffer("".join(marked.to_pylist()).encode("utf-32-le"), np.uint32)
    ends = np.cumsum(np.asarray(pc.utf8_length(marked), np.int64))
    return NgramLists(*_list_ngrams(codes, ends, *lengths))


def spell_ngrams(word: str, lengths: tuple[int, int]) -> list[str]:
    """Return the distinct n-grams of a word as strings, in the order of their first characters."""
    marked, (shortest, longest) = f"{BEGIN}{word}{END}", lengths
    found = (
        marked[start : start + length]
        for start in range(len(marked))
        for length in range(shortest, min(longest, len(marked) - start) + 1)
    )
    return list(dict.fromkeys(found))


def hash_ngram(ngram: str) -> int:
    """Return the hash of one n-gram."""
    codes = np.frombuffer(ngram.encode("utf-32-le"), np.uint32)
    return int(_list_ngrams(codes, np.array([len(codes)]), len(codes), len(codes))[1][0])


@kernel
def _list_ngrams(codes, ends, shortest, longest):
    """Return the fields of `NgramLists`.

    Args:
        codes: (n,) uint32, the characters of all words, one word after the other.
        ends: (words,) int64, the end of each word in `codes`.
        shortest, longest: minimum and maximum number of characters of an n-gram.
    """
    starts = np.zeros(len(ends) + 1, np.int64)
    hashes = np.empty(len(codes) * (longest - shortest + 1), np.int64)
    used = begin = 0
    for word in range(len(ends)):
        first = used
        for position in range(begin, ends[word]):
            value = _BASIS
            for stop in range(position + 1, min(ends[word], position + longest) + 1):
                value = (value ^ np.uint64(codes[stop - 1])) * _PRIME
                value ^= value >> _SHIFT
                if stop - position >= shortest:
                    hashes[used] = np.int64(value)
                    used += 1
        begin = ends[word]
        of_word = np.sort(hashes[first:used])
        used = first
        for index in range(len(of_word)):
            if index == 0 or of_word[index] != of_word[index - 1]:
                hashes[used] = of_word[index]
                used += 1
        starts[word + 1] = used
    return starts, hashes[:used].copy()
