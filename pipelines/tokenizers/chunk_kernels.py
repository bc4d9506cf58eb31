"""Numba kernels that split UTF-8 text at white space and number the distinct chunks.

The key of a chunk of up to eight bytes is the chunk itself, so nine of ten words are found by comparing two integers.
White space is defined as in `str.isspace`, so the chunks are those of `str.split` and of spaCy.

The table is larger than the caches of a processor. Chunks are looked up in blocks: the slots of all chunks of a block
are requested from memory before the first one is read.
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

# Number of first tokens of a chunk in `heads` (see `expand`).
HEAD_TOKENS = 3

# Number of chunks of a block. The time is flat between 16 and 64.
_BLOCK = 32


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


@intrinsic
def prefetch(typing_context, array, index):
    """Request the cache line of an element of an array from memory, without waiting for it."""

    def generate(context, builder, signature, arguments):
        int8, int32 = ir.IntType(8), ir.IntType(32)
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address = builder.bitcast(builder.gep(data, [arguments[1]]), int8.as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [int8.as_pointer(), int32, int32, int32])
        function = builder.module.declare_intrinsic("llvm.prefetch", [int8.as_pointer()], kind)
        builder.call(function, [address, int32(0), int32(3), int32(1)])  # to read, in all caches, data
        return context.get_dummy_value()

    return types.none(array, index), generate


def empty_table(slots: int) -> np.ndarray:
    """Return an empty hash table, (2 · slots,) uint64. A slot has the key of a chunk, then its number and its length.

    Args:
        slots: number of slots, a power of two.
    """
    return np.full(2 * slots, _EMPTY)


@kernel
def number_chunks(
    text, document_ends, document, at, table, starts, arena, known, meets, numbers, ends, n, boundaries, found
):
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
        meets: (256, 256) bool, attribute of `BoundaryRules`.
        numbers: int32, filled with the number of each chunk, from `n` on.
        ends: (documents,) int64, filled with the end of each document in `numbers`.
        n: number of chunks that are already numbered.
        boundaries: int32, filled from `found` on with the positions in `numbers` of chunks that are candidates for
            joining to the preceding chunk: one space is between them, and the bytes at this space meet.
        found: number of candidates that are already found.

    Returns:
        document, at, known, n, found: values to continue with. All documents are done if document ==
        len(document_ends).
    """
    slots = np.uint64(len(table) // 2 - 1)
    gaps, of_document = np.empty(_BLOCK, np.int64), np.empty(_BLOCK, np.int64)
    positions, lengths = np.empty(_BLOCK, np.int64), np.empty(_BLOCK, np.int64)
    keys, places = np.empty(_BLOCK, np.uint64), np.empty(_BLOCK, np.uint64)
    first = ends[document - 1] if document else 0
    while document < len(document_ends):
        size = 0
        end = document_ends[document]
        while size < _BLOCK:
            gap = at
            if at < end and text[at] == 32:
                at += 1
            # Fast path for chunks of at most fifteen ASCII bytes after one space, which are most chunks.
            length = 0
            if at + 16 <= end:
                length, key = _short_chunk(text, at)
            if length == 0:
                at = _skip_spaces(text, at, end)
                if at == end:
                    first = ends[document] = n + size
                    document += 1
                    if document == len(document_ends):
                        break
                    end = document_ends[document]
                    continue
                length = _chunk_end(text, at, end) - at
                key = _key(text, at, length)
            if at == gap + 1 and n + size > first and text[gap] == 32 and meets[text[gap - 1], text[at]]:
                boundaries[found] = n + size
                found += 1
            slot = _scatter(key ^ np.uint64(length) << _32) & slots
            prefetch(table, 2 * slot)  # pyright: ignore[reportCallIssue] (an intrinsic)
            gaps[size], of_document[size] = gap, document
            positions[size], lengths[size] = at, length
            keys[size], places[size] = key, slot
            size += 1
            at += length
        for i in range(size):
            if lengths[i] > 8 and table[2 * places[i]] == keys[i]:
                prefetch(starts, table[2 * places[i] + 1] & _NUMBER)  # pyright: ignore[reportCallIssue]
        for i in range(size):
            if lengths[i] > 8 and table[2 * places[i]] == keys[i]:
                start = starts[table[2 * places[i] + 1] & _NUMBER]
                prefetch(arena, start)  # pyright: ignore[reportCallIssue]
        for i in range(size):
            position, length, key, slot = positions[i], lengths[i], keys[i], places[i]
            tag = np.uint64(length) << _32
            while True:
                entry = table[2 * slot + 1]
                if entry == _EMPTY:
                    if 2 * (known + 1) > slots or known + 1 >= len(starts) or starts[known] + length > len(arena):
                        n += i
                        while found and boundaries[found - 1] >= n:
                            found -= 1
                        return of_document[i], gaps[i], known, n, found
                    table[2 * slot] = key
                    table[2 * slot + 1] = tag | np.uint64(known)
                    arena[starts[known] : starts[known] + length] = text[position : position + length]
                    starts[known + 1] = starts[known] + length
                    numbers[n + i] = known
                    known += 1
                    break
                if table[2 * slot] == key and entry >> _32 == np.uint64(length):
                    number = np.int64(entry & _NUMBER)
                    if length <= 8 or _same(text, position, arena, starts[number], length):
                        numbers[n + i] = number
                        break
                slot = (slot + np.uint64(1)) & slots
        n += size
    return document, at, known, n, found


@kernel
def rebuild_table(table, starts, arena, known):
    """Insert the known chunks into an empty hash table."""
    slots = np.uint64(len(table) // 2 - 1)
    keys, places = np.empty(_BLOCK, np.uint64), np.empty(_BLOCK, np.uint64)
    for first in range(0, known, _BLOCK):
        size = min(_BLOCK, known - first)
        for i in range(size):
            length = starts[first + i + 1] - starts[first + i]
            keys[i] = _key(arena, starts[first + i], length)
            places[i] = _scatter(keys[i] ^ np.uint64(length) << _32) & slots
            prefetch(table, 2 * places[i])  # pyright: ignore[reportCallIssue] (an intrinsic)
        for i in range(size):
            slot = places[i]
            while table[2 * slot + 1] != _EMPTY:
                slot = (slot + np.uint64(1)) & slots
            length = starts[first + i + 1] - starts[first + i]
            table[2 * slot] = keys[i]
            table[2 * slot + 1] = np.uint64(length) << _32 | np.uint64(first + i)


@kernel
def fill_heads(token_starts, tokens, seen, heads):
    """Write the rows of `heads` from the row `seen` on. Arguments are those of `expand`."""
    for chunk in range(seen, len(token_starts) - 1):
        size = token_starts[chunk + 1] - token_starts[chunk]
        heads[chunk, 0] = size
        for position in range(min(size, HEAD_TOKENS)):
            heads[chunk, 1 + position] = tokens[token_starts[chunk] + position]


@kernel
def count_tokens(numbers, heads):
    """Return the number of tokens of chunks. Arguments are those of `expand`."""
    last = np.uint32(len(heads) - 1)
    total = 0
    for number in numbers:
        total += heads[min(np.uint32(number), last), 0]
    return total


@kernel
def expand(numbers, ends, heads, token_starts, tokens, ids):
    """Replace each chunk by its tokens.

    Args:
        numbers: (chunks,) int32, number of each chunk of the documents, or -1 for a chunk without tokens.
        ends: (documents,) int64, end of each document in `numbers`.
        heads: (known chunks + 1, 1 + HEAD_TOKENS) int32, number of tokens of each known chunk, and its first tokens;
            the last row is 0.
        token_starts: (known chunks + 1,) int64, start of the tokens of each known chunk in `tokens`.
        tokens: int32, tokens of all known chunks.
        ids: (tokens + HEAD_TOKENS,) int32, output: ids of the tokens. NumPy allocates large arrays in huge pages, and
            numba does not.

    Returns:
        The end of each document in `ids`, (documents,) int64.
    """
    last = np.uint32(len(heads) - 1)
    ends_of_ids = np.empty(len(ends), np.int64)
    n = np.uint64(0)
    start = 0
    for document in range(len(ends)):
        for i in range(start, ends[document]):
            number = min(np.uint32(numbers[np.uint64(i)]), last)
            size = heads[number, 0]
            # Almost all chunks have at most three tokens, so the processor predicts the branch.
            for position in range(HEAD_TOKENS):
                ids[n + np.uint64(position)] = heads[number, 1 + position]
            if size > HEAD_TOKENS:
                first = token_starts[number]
                for position in range(HEAD_TOKENS, size):
                    ids[n + np.uint64(position)] = tokens[first + position]
            n += np.uint64(size)
        start = ends[document]
        ends_of_ids[document] = n
    return ends_of_ids


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


@kernel(inline="always")
def _short_chunk(text, at):
    """Return the length and the key of a chunk of at most fifteen ASCII bytes before ASCII white space, else 0 and 0.

    Sixteen bytes are read.
    """
    word = load_word(text, at)  # pyright: ignore[reportCallIssue] (an intrinsic)
    if word & _HIGH_BITS != 0:
        return 0, np.uint64(0)
    # Only the lowest marked byte is certainly below 0x21, because the subtraction can borrow from higher bytes.
    marks = (word - _PRINTING) & ~word & _HIGH_BITS
    if marks != 0:
        bits = (trailing_zeros(marks) >> np.uint64(3)) << np.uint64(3)  # pyright: ignore[reportCallIssue]
        if not _is_space(word >> bits & np.uint64(0xFF)):
            return 0, np.uint64(0)
        return np.int64(bits >> np.uint64(3)), word & ((np.uint64(1) << bits) - np.uint64(1))
    second = load_word(text, at + 8)  # pyright: ignore[reportCallIssue]
    marks = (second - _PRINTING) & ~second & _HIGH_BITS
    if second & _HIGH_BITS != 0 or marks == 0:
        return 0, np.uint64(0)
    bits = (trailing_zeros(marks) >> np.uint64(3)) << np.uint64(3)  # pyright: ignore[reportCallIssue]
    if not _is_space(second >> bits & np.uint64(0xFF)):
        return 0, np.uint64(0)
    length = 8 + np.int64(bits >> np.uint64(3))
    if length == 8:
        return length, word
    key = _mix(_mix(np.uint64(length), word), second & ((np.uint64(1) << bits) - np.uint64(1)))
    return length, key


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
        key = _mix(key, _bytes_of(text, at + start, min(8, length - start)))
    return key


@kernel(inline="always")
def _mix(key, word):
    key = (key ^ word) * GOLDEN
    return key ^ (key >> _32)


@kernel
def _scatter(key):
    """Return a hash of a key. The upper half of the product depends on all bytes, so it is folded onto the lower."""
    product = key * GOLDEN
    return product ^ (product >> _32)


@kernel
def _same(text, at, arena, start, length):
    """Return whether two strings of more than eight bytes are the same."""
    for i in range(0, length - 8, 8):
        if load_word(text, at + i) != load_word(arena, start + i):  # pyright: ignore[reportCallIssue]
            return False
    end = length - 8
    return load_word(text, at + end) == load_word(arena, start + end)  # pyright: ignore[reportCallIssue]
