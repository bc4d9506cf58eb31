"""Kernels of the text generator: recombination of documents, respelling of rare words, and counts of distinct pairs."""

import numpy as np
from numba import njit

WINDOW = 4  # largest offset of a counted pair

# Shares of the 64-bit random numbers of `next_random`, as floats.
UNIT = 1.0 / 2**53


@njit(cache=True)
def mix(value):
    """Return the hash of a 64-bit number (the finalizer of SplitMix64)."""
    value ^= value >> np.uint64(30)
    value *= np.uint64(0xBF58476D1CE4E5B9)
    value ^= value >> np.uint64(27)
    value *= np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@njit(cache=True)
def next_random(state):
    """Return the next number of SplitMix64, from 0 to 1, and advance the state, (1,) uint64."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    return np.float64(mix(state[0]) >> np.uint64(11)) * UNIT


@njit(cache=True)
def add_hash(table, sketch, value):
    """Add a hash to a sample of distinct hashes.

    Args:
        table: (2ⁿ,) uint64, open addressing; 0 is empty.
        sketch: (2,) int64, the number of hashes in the table, and the number of low bits that they all have as 0.
        value: the hash.
    """
    mask = np.uint64(len(table) - 1)
    if value & ((np.uint64(1) << np.uint64(sketch[1])) - np.uint64(1)) or value == 0:
        return
    slot = (value >> np.uint64(32)) & mask
    while table[slot]:
        if table[slot] == value:
            return
        slot = (slot + np.uint64(1)) & mask
    table[slot] = value
    sketch[0] += 1
    if sketch[0] * 2 > len(table):  # keep half of the hashes
        kept = table[table != 0]
        table[:] = 0
        sketch[0], sketch[1] = 0, sketch[1] + 1
        for each in kept:
            add_hash(table, sketch, each)


@njit(cache=True)
def count_pairs(tokens, table, sketch):
    """Add the pairs of a document to the sample of distinct pairs."""
    for i in range(len(tokens)):
        for offset in range(1, min(WINDOW, i) + 1):
            key = (np.uint64(tokens[i - offset]) << np.uint64(34)) | (np.uint64(tokens[i]) << np.uint64(2))
            add_hash(table, sketch, mix(key + np.uint64(offset - 1) + np.uint64(1)))


@njit(cache=True)
def recombine(length, fragment, state):
    """Return positions in a document of `length` chunks: fragments of consecutive chunks from random positions.

    Args:
        length: number of chunks of the document, and of the result.
        fragment: mean length of a fragment, at least 1.
        state: state of the random numbers.
    """
    positions = np.empty(length, np.int64)
    filled = 0
    while filled < length:
        start = int(next_random(state) * length)
        size = 1 + int(-np.log(1 - next_random(state)) * (fragment - 1))
        size = min(size, length - start, length - filled)
        for i in range(size):
            positions[filled + i] = start + i
        filled += size
    return positions


@njit(cache=True)
def respell(chunks, cores, new_share, replacements, stamps, stamp, recent, numbers, state):
    """Return the word of the core of each chunk of a document, or -1 for the spelling of the chunk.

    All occurrences of a rare word in a document get the same replacement: a new word, or one that replaced or was a
    rare word before, so that the frequencies of rare words follow a power law (Simon 1955).

    Args:
        chunks: (n,) int32, the chunks of the document.
        cores: (all chunks,) int32, the rare word in each chunk, or -1.
        new_share: probability of a new word.
        replacements, stamps: (words,) replacement of each rare word, and the document that it is valid in.
        stamp: number of the document.
        recent: (capacity,) int32, a random sample of the rare words so far, with repetitions.
        numbers: (2,) int64, number of rare words so far, and number of the next new word.
        state: state of the random numbers.
    """
    result = np.full(len(chunks), -1, np.int32)
    for i in range(len(chunks)):
        word = cores[chunks[i]]
        if word < 0:
            continue
        if stamps[word] != stamp:
            stamps[word] = stamp
            filled = min(numbers[0], len(recent))
            if filled == 0 or next_random(state) < new_share:
                replacements[word] = numbers[1]
                numbers[1] += 1
            else:
                replacements[word] = recent[int(next_random(state) * filled)]
            remember(replacements[word], recent, numbers, state)
        result[i] = replacements[word]
    return result


@njit(cache=True)
def remember(word, recent, numbers, state):
    """Add a word to the random sample of rare words (reservoir sampling)."""
    if numbers[0] < len(recent):
        recent[numbers[0]] = word
    else:
        slot = int(next_random(state) * (numbers[0] + 1))
        if slot < len(recent):
            recent[slot] = word
    numbers[0] += 1


@njit(cache=True)
def remember_document(chunks, cores, stamps, stamp, recent, numbers, state):
    """Add each rare word of a document that is not changed to the random sample, once."""
    for chunk in chunks:
        word = cores[chunk]
        if word >= 0 and stamps[word] != stamp:
            stamps[word] = stamp
            remember(word, recent, numbers, state)


@njit(cache=True)
def to_tokens(chunks, words, chunk_starts, chunk_tokens, cores):
    """Return the words of a document, (tokens,) int32, with the cores of chunks replaced by `words`."""
    size = 0
    for chunk in chunks:
        size += chunk_starts[chunk + 1] - chunk_starts[chunk]
    tokens = np.empty(size, np.int32)
    filled = 0
    for i in range(len(chunks)):
        for position in range(chunk_starts[chunks[i]], chunk_starts[chunks[i] + 1]):
            token = chunk_tokens[position]
            tokens[filled] = words[i] if words[i] >= 0 and token == cores[chunks[i]] else token
            filled += 1
    return tokens


@njit(cache=True)
def write_text(chunks, words, texts, text_starts, core_places, word_texts, word_starts, letters, marker, buffer):
    """Write the chunks of a document, separated by spaces, and return the number of bytes.

    Args:
        chunks, words: the chunks, and the word of each core, or -1.
        texts, text_starts: bytes of all chunks.
        core_places: (all chunks, 2) int32, the bytes of the core in the text of a chunk.
        word_texts, word_starts: bytes of all words of the real text. Words with higher numbers are made of
            syllables.
        letters: (syllables, 2) uint8, letters of each syllable.
        marker: (m,) uint8, letters at the end of new words, which no word of the real text has.
        buffer: uint8, large enough.
    """
    at = 0
    base = len(word_starts) - 1
    for i in range(len(chunks)):
        if i:
            buffer[at] = 32
            at += 1
        chunk, word = chunks[i], words[i]
        start, stop = text_starts[chunk], text_starts[chunk + 1]
        core_start, core_stop = start + core_places[chunk, 0], start + core_places[chunk, 1]
        if word < 0:
            core_start = core_stop = stop
        for position in range(start, core_start):
            buffer[at] = texts[position]
            at += 1
        if word >= base:
            number = word - base + len(letters)  # at least two syllables
            while number:
                buffer[at] = letters[number % len(letters), 0]
                buffer[at + 1] = letters[number % len(letters), 1]
                at += 2
                number //= len(letters)
            for letter in marker:
                buffer[at] = letter
                at += 1
        elif word >= 0:
            for position in range(word_starts[word], word_starts[word + 1]):
                buffer[at] = word_texts[position]
                at += 1
        for position in range(core_stop, stop):
            buffer[at] = texts[position]
            at += 1
    return at
