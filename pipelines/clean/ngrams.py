"""Characters in repeated n-grams of words (Rae et al. 2021, appendix A.1.1)."""

import numpy as np

from bitcipher.kernel_cache import kernel
from bitcipher.splitmix import GOLDEN

_32 = np.uint64(32)


@kernel
def extend_hashes(ngrams, hashes, powers):
    """Append a word to all n-grams, in place.

    Args:
        ngrams: (words,) uint64, hash of the n-gram that starts at each word, for n ≥ 1. The last n - 1 are undefined.
        hashes, powers: (words,) uint64, the hash of the word to append to each n-gram, and its power (see `WordTable`).
    """
    for i in range(len(hashes)):
        ngrams[i] = ngrams[i] * powers[i] + hashes[i]


@kernel
def top_ngram_characters(ngrams, numbers, lengths, n):
    """Return the number of characters in all occurrences of the most frequent n-gram, spaces included.

    Among equally frequent n-grams, the first one counts.

    Args:
        ngrams: (n-grams,) uint64, hashes of the n-grams.
        numbers: (words,) int32, number of each word.
        lengths: (words,) int64, length of each word.
        n: number of words of an n-gram.
    """
    counts = np.zeros(len(ngrams), np.int64)
    slots = _empty_slots(len(ngrams))
    for i in range(len(ngrams)):
        slot = _scatter(ngrams[i], len(slots))
        while slots[slot] >= 0 and not _same_words(ngrams, numbers, slots[slot], i, n):
            slot = (slot + 1) & (len(slots) - 1)
        if slots[slot] < 0:
            slots[slot] = i
        counts[slots[slot]] += 1
    top = np.argmax(counts)
    return counts[top] * (lengths[top : top + n].sum() + n - 1)


@kernel
def duplicate_ngram_characters(ngrams, lengths, n):
    """Return the number of characters in n-grams that occurred before, without spaces.

    A duplicate is skipped as a whole, so no character is counted twice. N-grams are equal if their hashes are equal. As
    in datatrove, the hash depends on the concatenated words only, so "to day" and "tod ay" are the same bigram.

    Args:
        ngrams: (n-grams,) uint64, hashes of the n-grams.
        lengths: (words,) int64, length of each word.
        n: number of words of an n-gram.
    """
    slots = _empty_slots(len(ngrams))
    characters = 0
    i = 0
    while i < len(ngrams):
        slot = _scatter(ngrams[i], len(slots))
        while slots[slot] >= 0 and ngrams[slots[slot]] != ngrams[i]:
            slot = (slot + 1) & (len(slots) - 1)
        if slots[slot] >= 0:
            characters += lengths[i : i + n].sum()
            i += n
        else:
            slots[slot] = i
            i += 1
    return characters


@kernel
def _empty_slots(entries):
    """Return an empty hash table of indices, at most half full."""
    size = 2
    while size < 2 * entries:
        size *= 2
    return np.full(size, -1, np.int32)


@kernel
def _scatter(value, slots):
    mixed = (value ^ (value >> _32)) * GOLDEN
    return np.int64(mixed >> _32) & (slots - 1)


@kernel
def _same_words(ngrams, numbers, first, second, n):
    if ngrams[first] != ngrams[second]:
        return False
    for i in range(n):
        if numbers[first + i] != numbers[second + i]:
            return False
    return True
