"""Counting the pairs of one shard, row by row: the heart, in numba (SPEC 2 and 3).

The tokens lie in one array, numbered by their rank in the shard. For each left word its positions are looked up
and the words behind them are gathered into a dense array of counts, so a pair costs one addition and nothing
is hashed or sorted. All pairs of a left word come out together: a row.
"""

import numpy as np
from numba import njit

from bitcipher.counts.bitset import drain, insert

# Rows of at most so many occurrences are sorted by insertion; from there on the bitset is faster (measured: the
# time is flat between 16 and 48).
SMALL_ROW = 24


@njit(cache=True, nogil=True)
def flatten_tokens(ids, ends, numbers, separators, stop):
    """Tokens by their numbers, with `separators` times `stop` behind every document, so windows end there.

    Args:
        ids: (n,) int32 tokens, document after document.
        ends: (documents,) int64, where each document ends in `ids`.
        numbers: (types,) int32, the number of each id.
        separators: how many stops.
        stop: the number that is no word's: the count of words.
    """
    tokens = np.empty(len(ids) + (len(ends) + 1) * separators, np.int32)
    at = 0
    start = 0
    for end in ends:
        for i in range(start, end):
            tokens[at] = numbers[ids[i]]
            at += 1
        start = end
        for _ in range(separators):
            tokens[at] = stop
            at += 1
    tokens[at:] = stop
    return tokens


@njit(cache=True, nogil=True)
def count_passages(ids, ends, types, passage_tokens):
    """For each id the passages that hold it, (types,) int64, and all documents that hold any token.

    A document longer than `passage_tokens` counts as several, consecutive slices (SPEC 1).
    """
    passages = np.zeros(types, np.int64)
    last_seen = np.full(types, -1, np.int32)
    seen = 0
    start = 0
    for end in ends:
        for passage_start in range(start, end, passage_tokens):
            for i in range(passage_start, min(end, passage_start + passage_tokens)):
                if last_seen[ids[i]] != seen:
                    last_seen[ids[i]] = seen
                    passages[ids[i]] += 1
            seen += 1
        start = end
    return passages, seen


@njit(cache=True, nogil=True)
def positions_by_word(tokens, counts):
    """Where each word stands: (words + 1,) int64 starts into (tokens,) int32 positions, ascending for each word."""
    words = len(counts)
    starts = np.zeros(words + 1, np.int64)
    for word in range(words):
        starts[word + 1] = starts[word] + counts[word]
    positions = np.empty(starts[words], np.int32)
    cursor = starts[:words].copy()
    for at in range(len(tokens)):
        word = tokens[at]
        if word < words:
            positions[cursor[word]] = at
            cursor[word] += 1
    return starts, positions


@njit(cache=True, nogil=True)
def count_rows(
    tokens,
    starts,
    positions,
    carried,
    order,
    bands,
    labels,
    row,
    band,
    totals,
    low,
    high,
    small,
    left,
    offset,
    length,
    right,
    count,
):
    """Count rows into the output arrays until one of them might not fit.

    A row is a left word and a band of offsets; its pairs lie in ascending order of the right word's number.

    Args:
        tokens: from `flatten_tokens`, with as many stops behind a document as the largest first offset of a band.
        starts, positions: from `positions_by_word`.
        carried: pairs whose right word is among the first so many tokens are left out.
        order: (words,) int64, the words in the order in which their rows are wanted.
        bands: (bands, 2) int64, the first and last offset of each.
        labels: (bands,) int16, the offset that their rows carry.
        row, band: the place in `order` and in `bands` to start from.
        totals, low, high: (words,) zeros, wide enough for any count, and an empty set: room to count in.
        small: (SMALL_ROW,) int32: room to sort in.
        left, offset, length: (rows,) int32, int16 and int64: the rows, empty ones left out.
        right, count: (entries,) int32 and int64: their pairs.

    Returns:
        The place to go on from, in `order` and in `bands`, and the rows and entries written.
    """
    words = len(starts) - 1
    rows = 0
    n = 0
    while row < words:
        word = order[row]
        first, behind = starts[word], starts[word + 1]
        while band < len(bands):
            low_offset, high_offset = bands[band, 0], bands[band, 1]
            pairs = (behind - first) * (high_offset - low_offset + 1)
            if rows == len(left) or n + min(pairs, words) > len(right):
                return row, band, rows, n
            before = n
            if pairs <= SMALL_ROW:
                n = _count_small(
                    tokens, positions, carried, first, behind, low_offset, high_offset, words, small, right, count, n
                )
            else:
                for i in range(first, behind):
                    position = positions[i]
                    for at in range(max(carried, position + low_offset), position + high_offset + 1):
                        other = tokens[at]
                        if other == words:
                            break
                        if totals[other] == 0:
                            insert(low, high, other)
                        totals[other] += 1
                n = drain(low, high, totals, right, count, n)
            if n > before:
                left[rows] = word
                offset[rows] = labels[band]
                length[rows] = n - before
                rows += 1
            band += 1
        band = 0
        row += 1
    return row, band, rows, n


@njit(cache=True, nogil=True)
def _count_small(tokens, positions, carried, first, behind, low_offset, high_offset, words, small, right, count, n):
    size = 0
    for i in range(first, behind):
        position = positions[i]
        for at in range(max(carried, position + low_offset), position + high_offset + 1):
            other = tokens[at]
            if other == words:
                break
            place = size
            while place > 0 and small[place - 1] > other:
                small[place] = small[place - 1]
                place -= 1
            small[place] = other
            size += 1
    for place in range(size):
        if place > 0 and small[place] == small[place - 1]:
            count[n - 1] += 1
        else:
            right[n] = small[place]
            count[n] = 1
            n += 1
    return n
