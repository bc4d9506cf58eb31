"""Numba kernels that count the pairs of a shard row by row.

The tokens are in one array of word numbers; the number of a word is its rank in the shard. For each left word, the
words that follow its positions are counted in a dense array, so a pair costs one addition and no hashing or sorting.
All pairs of a left word and an offset form a row.

The positions of a word are all over the text. The words that follow them are first collected, some at a time, in a loop
without other work, so that the processor waits for many of them at once. Then they are counted. This takes half of the
time of one loop for both.
"""

import numpy as np

from bitcipher.counts.bitset import drain, insert
from bitcipher.kernel_cache import kernel

# Maximum occurrences of a row that is sorted by insertion; for larger rows the bitset is faster. The time is
# flat between 16 and 48.
SMALL_ROW = 24

# Number of words that are collected before they are counted. They stay in the cache.
COLLECTED = 1 << 14


@kernel
def count_words(ids, ends, types, passage_tokens):
    """Return the occurrences of each id and the number of passages that contain it, (types,) int64 each, and the number
    of all passages.

    A passage is a slice of at most `passage_tokens` tokens of a document.
    """
    counted = np.zeros((types, 3), np.int64)  # occurrences, passages, and 1 + last passage: in one cache line
    seen = 0
    start = 0
    for end in ends:
        for passage_start in range(start, end, passage_tokens):
            seen += 1
            for i in range(passage_start, min(end, passage_start + passage_tokens)):
                word = np.uint64(ids[np.uint64(i)])
                counted[word, 0] += 1
                if counted[word, 2] != seen:
                    counted[word, 2] = seen
                    counted[word, 1] += 1
        start = end
    return counted[:, 0].copy(), counted[:, 1].copy(), seen


@kernel
def place_tokens(ids, ends, words, separators, separator, tokens, positions):
    """Write the word number of each token, with separators after each document and at the end, and its position.

    Args:
        ids: (n,) int32 token ids, document after document.
        ends: (documents,) int64, the end of each document in `ids`.
        words: (types, 2) int32, the word number of each id, and the start of the positions of its word in `positions`,
            which becomes their end.
        separators: number of separators after each document. Windows end at the first separator.
        separator: number that stands for a separator: the number of words, which no word has.
        tokens: (n + (documents + 1) · separators,) int32, output: word numbers.
        positions: (n,) int32, output: the positions of each word in `tokens`, ascending.
    """
    position = 0
    start = 0
    for end in ends:
        for i in range(start, end):
            word = np.uint64(ids[np.uint64(i)])
            tokens[np.uint64(position)] = words[word, 0]
            positions[np.uint64(words[word, 1])] = position
            words[word, 1] += 1
            position += 1
        start = end
        for _ in range(separators):
            tokens[position] = separator
            position += 1
    tokens[position:] = separator


@kernel
def add_rows(left, length, numbers, word, rows, entries):
    """Add the rows of a block to the sums of their words.

    Args:
        left: (rows,) int32, left word of each row, in the order of `numbers`.
        length: (rows,) int64, number of pairs of each row.
        numbers: (V,) int32, the number of each word.
        word: index into `numbers` from which the words of the rows are found.
        rows, entries: (V,) int32 and int64, number of rows and of pairs of each word, which are added to.

    Returns:
        The index of the word of the last row, or V if a row is not in the order of `numbers`.
    """
    for row in range(len(left)):
        while word < len(numbers) and numbers[word] != left[row]:
            word += 1
        if word == len(numbers):
            break
        rows[word] += 1
        entries[word] += length[row]
    return word


@kernel
def count_rows(
    tokens,
    starts,
    positions,
    carried,
    order,
    bands,
    row_offsets,
    row,
    band,
    totals,
    low,
    high,
    small,
    collected,
    left,
    offset,
    length,
    right,
    count,
):
    """Count rows into the output arrays until the next row might not fit.

    A row is a left word and a band of offsets. Its pairs are in ascending order of the right word's number.

    Args:
        tokens: from `place_tokens`, where `separators` is the largest first offset of a band.
        starts: (words + 1,) int64, start of the positions of each word in `positions`, and the end of the last.
        positions: (tokens,) int32, from `place_tokens`.
        carried: number of tokens at the start that are not counted as right words.
        order: (words,) integers, the words in the order of the output rows.
        bands: (bands, 2) int64, first and last offset of each band.
        row_offsets: (bands,) int16, the offset that is stored with the rows of each band.
        row, band: indices into `order` and `bands` to start from.
        totals: (words,) zeros of a dtype that can hold any count, working memory.
        low, high: an empty bitset, working memory.
        small: (SMALL_ROW,) int32, working memory for sorting.
        collected: (COLLECTED,) int32, working memory, at least as long as a band.
        left, offset, length: (rows,) int32, int16 and int64, output: the columns of the rows with at least one pair.
        right, count: (entries,) int32 and int64, output: the pairs.

    Returns:
        The indices into `order` and `bands` to resume from, and the numbers of written rows and pairs.
    """
    words = len(starts) - 1
    rows = 0
    n = 0
    while row < words:
        word = order[row]
        first, stop = starts[word], starts[word + 1]
        while band < len(bands):
            low_offset, high_offset = bands[band, 0], bands[band, 1]
            pairs = (stop - first) * (high_offset - low_offset + 1)
            if rows == len(left) or n + min(pairs, words) > len(right):
                return row, band, rows, n
            before = n
            if pairs <= SMALL_ROW:
                n = _count_small(
                    tokens, positions, carried, first, stop, low_offset, high_offset, words, small, right, count, n
                )
            else:
                i = first
                while i < stop:
                    i, size = _collect(tokens, positions, carried, i, stop, low_offset, high_offset, words, collected)
                    for k in range(size):
                        other = np.uint64(collected[np.uint64(k)])
                        if other < words:
                            total = totals[other]
                            totals[other] = total + 1
                            if total == 0:
                                insert(low, high, other)
                n = drain(low, high, totals, right, count, n)
            if n > before:
                left[rows] = word
                offset[rows] = row_offsets[band]
                length[rows] = n - before
                rows += 1
            band += 1
        band = 0
        row += 1
    return row, band, rows, n


@kernel
def _collect(tokens, positions, carried, i, stop, low_offset, high_offset, separator, collected):
    """Write the words that follow some positions of a word, and perhaps separators, to `collected`.

    Returns:
        The index into `positions` to resume from, and the number of written words.
    """
    size = 0
    if low_offset == high_offset:
        while i < stop and positions[i] + low_offset < carried:
            i += 1
        size = min(stop - i, len(collected))
        for k in range(size):
            collected[np.uint64(k)] = tokens[np.uint64(positions[np.uint64(i + k)] + low_offset)]
        return i + size, size
    while i < stop and size + high_offset - low_offset < len(collected):
        position = positions[np.uint64(i)]
        for neighbor in range(max(carried, position + low_offset), position + high_offset + 1):
            other = tokens[np.uint64(neighbor)]
            if other == separator:
                break
            collected[np.uint64(size)] = other
            size += 1
        i += 1
    return i, size


@kernel
def _count_small(tokens, positions, carried, first, stop, low_offset, high_offset, words, small, right, count, n):
    size = 0
    for i in range(first, stop):
        position = positions[i]
        for neighbor in range(max(carried, position + low_offset), position + high_offset + 1):
            other = tokens[neighbor]
            if other == words:
                break
            index = size
            while index > 0 and small[index - 1] > other:
                small[index] = small[index - 1]
                index -= 1
            small[index] = other
            size += 1
    for index in range(size):
        if index > 0 and small[index] == small[index - 1]:
            count[n - 1] += 1
        else:
            right[n] = small[index]
            count[n] = 1
            n += 1
    return n
