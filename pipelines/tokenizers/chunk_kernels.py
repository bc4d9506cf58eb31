"""Numba kernels that split UTF-8 text at white space and number the distinct chunks.

The key of a chunk of up to eight bytes is the chunk itself, so nine of ten words are found by comparing two integers.
White space is defined as in `str.isspace`, so the chunks are those of `str.split` and of spaCy.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from bitcipher.counts.bitset import trailing_zeros
from bitcipher.kernel_cache import kernel
from bitcipher.splitmix import GOLDEN

_HIGH_BITS = np.uint64(0x8080808080808080)
_PRINTING = np.uint64(0x2121212121212121)  # bytes below 0x21 are white space or control characters
_EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)
_NUMBER = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)


@intrinsic
def load_word(typing_context, data, at):
    """Return eight bytes of a uint8 array at any offset as a uint64. Plain numba code reads only aligned integers."""

    def generate(context, builder, signature, arguments):
        int64 = ir.IntType(64)
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        address = builder.bitcast(builder.gep(array.data, [arguments[1]]), int64.as_pointer())
        word = builder.load(address)
        word.align = 1
        return word

    return types.uint64(data, types.int64), generate


def empty_table(slots: int) -> np.ndarray:
    """Return an empty hash table, (2 · slots,) uint64. A slot has the key of a chunk, then its number and its length.

    Args:
        slots: number of slots, a power of two.
    """
    return np.full(2 * slots, _EMPTY)


@kernel
def number_chunks(text, document_ends, document, at, table, starts, arena, known, numbers, spaced, ends, n):
    """Number the chunks of documents in order, until all are done or a new chunk does not fit in the table or arena.

    Args:
        text: (bytes,) uint8, UTF-8 text of all documents.
        document_ends: (documents,) int64, end of each document in `text`.
        document: index of the document to start with.
        at: position of the byte to start with, in `text`.
        table: hash table from `empty_table`, at most half full.
        starts: (capacity,) int64, start of each known chunk in `arena`, followed by the end of the last.
        arena: uint8, bytes of the known chunks.
        known: number of known chunks.
        numbers: int32, filled with the number of each chunk, from `n` on.
        spaced: bool, filled with whether exactly one space separates the chunk from the preceding chunk.
        ends: (documents,) int64, filled with the end of each document in `numbers`.
        n: number of chunks that are already numbered.

    Returns:
        document, at, known, n: values to continue with. All documents are done if document == len(document_ends).
    """
    slots = np.uint64(len(table) // 2 - 1)
    while document < len(document_ends):
        end = document_ends[document]
        while True:
            # Fast path with one read, for chunks of at most seven ASCII bytes after one space, which are most chunks.
            gap = at
            if at < end and text[at] == 32:
                at += 1
            length = 0
            if at + 8 <= end:
                word = load_word(text, at)  # pyright: ignore[reportCallIssue] (an intrinsic)
                marks = (word - _PRINTING) & ~word & _HIGH_BITS
                if marks != 0 and word & _HIGH_BITS == 0:
                    bits = (trailing_zeros(marks) >> np.uint64(3)) << np.uint64(3)  # pyright: ignore[reportCallIssue]
                    if _is_space(word >> bits & np.uint64(0xFF)):
                        length = np.int64(bits >> np.uint64(3))
                        key = word & ((np.uint64(1) << bits) - np.uint64(1))
            if length == 0:
                at = _skip_spaces(text, at, end)
                if at == end:
                    break
                length = _chunk_end(text, at, end) - at
                key = _key(text, at, length)
            spaced[n] = at == gap + 1 and text[gap] == 32
            tag = np.uint64(length) << _32
            slot = _scatter(key ^ tag) & slots
            while True:
                entry = table[2 * slot + 1]
                if entry == _EMPTY:
                    if 2 * (known + 1) > slots or known + 1 >= len(starts) or starts[known] + length > len(arena):
                        return document, gap, known, n
                    table[2 * slot] = key
                    table[2 * slot + 1] = tag | np.uint64(known)
                    arena[starts[known] : starts[known] + length] = text[at : at + length]
                    starts[known + 1] = starts[known] + length
                    numbers[n] = known
                    known += 1
                    break
                if table[2 * slot] == key and entry >> _32 == np.uint64(length):
                    number = np.int64(entry & _NUMBER)
                    if length <= 8 or _same(text, at, arena, starts[number], length):
                        numbers[n] = number
                        break
                slot = (slot + np.uint64(1)) & slots
            n += 1
            at += length
        ends[document] = n
        document += 1
    return document, at, known, n


@kernel
def rebuild_table(table, starts, arena, known):
    """Insert the known chunks into an empty hash table."""
    slots = np.uint64(len(table) // 2 - 1)
    for number in range(known):
        length = starts[number + 1] - starts[number]
        key = _key(arena, starts[number], length)
        tag = np.uint64(length) << _32
        slot = _scatter(key ^ tag) & slots
        while table[2 * slot + 1] != _EMPTY:
            slot = (slot + np.uint64(1)) & slots
        table[2 * slot] = key
        table[2 * slot + 1] = tag | np.uint64(number)


@kernel
def find_boundaries(numbers, spaced, ends, starts, arena, meets):
    """Return the positions of chunks that are candidates for joining to the preceding chunk, (positions,) int64.

    Args:
        numbers: (chunks,) int32, from `number_chunks`.
        spaced: (chunks,) bool, from `number_chunks`.
        ends: (documents,) int64, from `number_chunks`.
        starts: start of each known chunk in `arena`.
        arena: bytes of the known chunks.
        meets: (256, 256) bool, attribute of `BoundaryRules`.
    """
    positions = []
    start = 0
    for end in ends:
        for i in range(start + 1, end):
            if spaced[i] and meets[arena[starts[numbers[i - 1] + 1] - 1], arena[starts[numbers[i]]]]:
                positions.append(i)
        start = end
    return np.array(positions, np.int64)


@kernel
def expand(numbers, ends, token_starts, tokens):
    """Replace each chunk by its tokens.

    Args:
        numbers: (chunks,) int32, number of each chunk of the documents.
        ends: (documents,) int64, end of each document in `numbers`.
        token_starts: (known chunks + 1,) int64, start of the tokens of each known chunk in `tokens`.
        tokens: int32, tokens of all known chunks.

    Returns:
        Ids of the tokens, (tokens,) int32, and the end of each document in them, (documents,) int64.
    """
    total = 0
    for number in numbers:
        total += token_starts[number + 1] - token_starts[number]
    ids = np.empty(total, np.int32)
    ends_of_ids = np.empty(len(ends), np.int64)
    n = 0
    start = 0
    for document in range(len(ends)):
        for i in range(start, ends[document]):
            for position in range(token_starts[numbers[i]], token_starts[numbers[i] + 1]):
                ids[n] = tokens[position]
                n += 1
        start = ends[document]
        ends_of_ids[document] = n
    return ids, ends_of_ids


@kernel
def _is_space(byte):
    """Return whether a byte is ASCII white space: tab to carriage return, the four separators, or space."""
    return byte == 32 or 9 <= byte <= 13 or 28 <= byte <= 31


@kernel
def _wide_space(text, at, end):
    """Return the length in bytes of non-ASCII white space (U+0085, U+00A0, U+1680, U+2000 …) at a position, or 0."""
    first = text[at]
    if first == 0xC2 and at + 1 < end and (text[at + 1] == 0x85 or text[at + 1] == 0xA0):
        return 2
    if at + 2 >= end or (first != 0xE1 and first != 0xE2 and first != 0xE3):
        return 0
    second, third = text[at + 1], text[at + 2]
    if first == 0xE1:
        found = second == 0x9A and third == 0x80
    elif first == 0xE3:
        found = second == 0x80 and third == 0x80
    elif second == 0x80:
        found = third <= 0x8A or third == 0xA8 or third == 0xA9 or third == 0xAF
    else:
        found = second == 0x81 and third == 0x9F
    return 3 if found else 0


@kernel
def _skip_spaces(text, at, end):
    while at < end:
        if _is_space(text[at]):
            at += 1
            continue
        if text[at] < 128:
            break
        length = _wide_space(text, at, end)
        if length == 0:
            break
        at += length
    return at


@kernel
def _chunk_end(text, at, end):
    """Return the end of the chunk at a position. ASCII is read eight bytes at a time."""
    while at + 8 <= end:
        word = load_word(text, at)  # pyright: ignore[reportCallIssue] (an intrinsic)
        if word & _HIGH_BITS != 0:
            break
        # Only the lowest marked byte is certainly below 0x21, because the subtraction can borrow from higher bytes.
        marks = (word - _PRINTING) & ~word & _HIGH_BITS
        if marks == 0:
            at += 8
            continue
        at += np.int64(trailing_zeros(marks) >> np.uint64(3))  # pyright: ignore[reportCallIssue]
        if _is_space(text[at]):
            return at
        at += 1
    while at < end and not _is_space(text[at]) and (text[at] < 128 or _wide_space(text, at, end) == 0):
        at += 1
    return at


@kernel
def _bytes_of(text, at, length):
    """Return up to eight bytes as a number, padded with zeros."""
    if at + 8 <= len(text):
        word = load_word(text, at)  # pyright: ignore[reportCallIssue] (an intrinsic)
        if length == 8:
            return word
        return word & ((np.uint64(1) << np.uint64(8 * length)) - np.uint64(1))
    word = np.uint64(0)
    for i in range(length):
        word |= np.uint64(text[at + i]) << np.uint64(8 * i)
    return word


@kernel
def _key(text, at, length):
    if length <= 8:
        return _bytes_of(text, at, length)
    key = np.uint64(length)
    for start in range(0, length, 8):
        key = (key ^ _bytes_of(text, at + start, min(8, length - start))) * GOLDEN
        key ^= key >> _32
    return key


@kernel
def _scatter(key):
    """Return a hash of a key. The upper half of the product depends on all bytes, so it is folded onto the lower."""
    product = key * GOLDEN
    return product ^ (product >> _32)


@kernel
def _same(text, at, arena, start, length):
    for i in range(length):
        if text[at + i] != arena[start + i]:
            return False
    return True
