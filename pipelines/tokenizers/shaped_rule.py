"""Tokenization of chunks by their shapes.

spaCy's rules look at the letters of a word in special cases, such as "gonna", and in units, such as "mbar". To other
words, they apply patterns of marks, digits and letters of either case, so "garden,", "kitchen," and "obviously," are
divided at the same place. Here, such words are replaced by qqqq, Qqqq or QQQQ before the rule is applied. Of 923,000
distinct chunks of English books and articles, 77,000 need the rule then.

Words of two or three letters keep their number of letters, and longer ones have four in a shape: spaCy's patterns
examine at most three characters on either side of a token's end. Words of mixed case are not replaced, nor are letters
outside ASCII. The parts of a host's name have at most 63 characters, so longer chunks are not replaced.

Numbers are replaced, too. The patterns treat all digits alike, except in an IP address, whose parts have at most three
digits and are separated by periods. The port after it can have five digits. So a number of at least four digits keeps
its number of digits up to six; in a chunk without a period, also one of two or three digits is replaced.
"""

import re
from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bitcipher.kernel_cache import kernel
from pipelines.tokenizers.chunk_tokenizer import ChunkTokens, Rule, merge_tokens

# Maximum number of bytes of a chunk whose words are replaced.
MAX_CHUNK_BYTES = 60

# Number of known shapes above which they are forgotten: 40 MB.
MAX_SHAPES = 500_000

# Maximum number of letters and of digits in the shape of a word and of a number.
SHAPE_LETTERS = 4
SHAPE_DIGITS = 6

# Minimum number of digits of a number that is replaced, in a chunk with a period and in another chunk.
MIN_DIGITS_WITH_PERIOD = 4
MIN_DIGITS = 2

_LETTER = np.uint8(ord("q"))
_DIGIT = np.uint8(ord("9"))
_PERIOD = np.uint8(ord("."))
_CASE_BIT = np.uint8(0x20)


class ShapedRule:
    """Rule that divides chunks of the same shape at the same places.

    Args:
        rule: rule that splits chunks into tokens, without change of case.
        lowercase: lowercase the tokens.
        reserved: strings with words and numbers that matter to the rule. Others are replaced.
    """

    def __init__(self, rule: Rule, lowercase: bool, reserved: Iterable[str]):
        self._rule = rule
        self._lowercase = lowercase
        self.joins = rule.joins
        runs = {run.lower() for string in reserved for run in re.findall("[A-Za-z]{2,}|[0-9]{2,}", string)}
        words = pa.array(sorted(runs), pa.large_string())
        self._reserved = np.unique(hash_words(*_buffers(words)))
        self._forget()

    def __call__(self, chunks: pa.LargeStringArray) -> ChunkTokens:
        """Return the tokens of chunks."""
        if len(self._shapes) > MAX_SHAPES:
            self._forget()
        has_shape = pc.and_(
            pc.less_equal(pc.binary_length(chunks), MAX_CHUNK_BYTES), pc.invert(pc.match_substring(chunks, " "))
        )
        shaped = chunks.filter(has_shape)
        shapes, others = self._learn(self._shapes_of(shaped), chunks.filter(pc.invert(has_shape)))
        return merge_tokens(~has_shape.to_numpy(zero_copy_only=False), self._cut(shaped, shapes), others)

    def _forget(self) -> None:
        self._shapes = pa.array([], pa.large_string())
        self._cut_starts = np.zeros(1, np.int64)
        self._cuts = np.empty(0, np.int64)

    def _shapes_of(self, chunks: pa.LargeStringArray) -> pa.LargeStringArray:
        """Return the shape of each chunk."""
        text, offsets = _buffers(chunks)
        shapes, ends = np.empty(offsets[-1] - offsets[0], np.uint8), np.zeros(len(chunks) + 1, np.int64)
        write_shapes(text, offsets, self._reserved, shapes, ends[1:])
        return pa.LargeStringArray.from_buffers(len(chunks), pa.py_buffer(ends), pa.py_buffer(shapes[: ends[-1]]))

    def _learn(self, shapes: pa.LargeStringArray, others: pa.LargeStringArray) -> tuple[np.ndarray, ChunkTokens]:
        """Apply the rule to the shapes that are not known yet, and to other chunks.

        Returns:
            The number of each shape, and the tokens of the other chunks.
        """
        coded = shapes.dictionary_encode()
        new = coded.dictionary.filter(pc.is_null(pc.index_in(coded.dictionary, self._shapes)))
        tokens, sizes = self._rule(pa.concat_arrays([new, others]))
        in_shapes = int(sizes[: len(new)].sum())
        ends = np.cumsum(np.asarray(pc.binary_length(tokens.slice(0, in_shapes))))
        stops = np.cumsum(np.asarray(pc.binary_length(new)))
        starts = stops - np.asarray(pc.binary_length(new))
        assert np.array_equal(ends[np.cumsum(sizes[: len(new)]) - 1], stops), "the rule changes characters"
        self._cuts = np.concatenate([self._cuts, ends - np.repeat(starts, sizes[: len(new)])])
        self._cut_starts = np.concatenate([self._cut_starts, self._cut_starts[-1] + np.cumsum(sizes[: len(new)])])
        self._shapes = pa.concat_arrays([self._shapes, new])
        numbers = np.asarray(pc.index_in(coded.dictionary, self._shapes))[np.asarray(coded.indices)]
        words = tokens.slice(in_shapes)
        return numbers, ChunkTokens(_lower(words) if self._lowercase else words, sizes[len(new) :])

    def _cut(self, chunks: pa.LargeStringArray, shapes: np.ndarray) -> ChunkTokens:
        """Return the tokens of chunks from the numbers of their shapes."""
        text, offsets = _buffers(chunks)
        sizes = np.diff(self._cut_starts)[shapes]
        ends = np.empty(sizes.sum() + 1, np.int64)
        ends[0] = offsets[0]
        cut = cut_chunks(text, offsets, self._reserved, shapes, self._cut_starts, self._cuts, ends[1:])
        assert cut == len(ends) - 1, "the rule divides a word that was replaced"
        if self._lowercase:
            text = text + np.uint8(0x20) * ((text >= ord("A")) & (text <= ord("Z")))
        words = pa.LargeStringArray.from_buffers(len(ends) - 1, pa.py_buffer(ends), pa.py_buffer(text))
        return ChunkTokens(_lower_others(words) if self._lowercase else words, sizes)


def _buffers(strings: pa.LargeStringArray) -> tuple[np.ndarray, np.ndarray]:
    """Return the bytes of strings, and the start of each string, followed by the end of the last."""
    if not len(strings):
        return np.empty(0, np.uint8), np.zeros(1, np.int64)
    offsets = np.frombuffer(strings.buffers()[1], np.int64)[strings.offset :][: len(strings) + 1]
    # An array of empty strings can lack the buffer of bytes.
    return np.frombuffer(strings.buffers()[2] or b"", np.uint8)[: offsets[-1]], offsets


def _lower_others(tokens: pa.LargeStringArray) -> pa.LargeStringArray:
    """Return tokens whose letters of ASCII are in lowercase with all letters in lowercase."""
    is_other = pc.invert(pc.string_is_ascii(tokens))
    if not pc.any(is_other).as_py():
        return tokens
    return pc.replace_with_mask(tokens, is_other, _lower(tokens.filter(is_other)))


def _lower(tokens: pa.LargeStringArray) -> pa.LargeStringArray:
    """Return tokens in lowercase, as spaCy's `lower_`. Arrow has other rules for some letters."""
    coded = tokens.dictionary_encode()
    lower = pa.array([word.lower() for word in coded.dictionary.to_pylist()], pa.large_string())
    return lower.take(coded.indices)


@kernel
def write_shapes(text, offsets, reserved, shapes, ends):
    """Write the shape of each chunk: the chunk with qqqq, Qqqq or QQQQ instead of words, and 9999 instead of numbers.

    Args:
        text: (bytes,) uint8, UTF-8 text of all chunks.
        offsets: (chunks + 1,) int64, start of each chunk in `text`, and the end of the last.
        reserved: (words,) uint64, sorted hashes of the words and numbers that are not replaced.
        shapes: (bytes,) uint8, output: the shapes.
        ends: (chunks,) int64, output: end of each shape.
    """
    n = 0
    for chunk in range(len(offsets) - 1):
        at, stop = offsets[chunk], offsets[chunk + 1]
        min_digits = _min_digits(text, at, stop)
        while at < stop:
            end, size = _next_run(text, at, stop, min_digits, reserved)
            if size == 0:
                shapes[n : n + end - at] = text[at:end]
                n += end - at
            elif text[at] <= _DIGIT:
                shapes[n : n + size] = _DIGIT
                n += size
            else:
                shapes[n] = _LETTER & ~_CASE_BIT if text[at] < 97 else _LETTER
                shapes[n + 1 : n + size] = _LETTER & ~_CASE_BIT if text[at + 1] < 97 else _LETTER
                n += size
            at = end
        ends[chunk] = n


@kernel
def cut_chunks(text, offsets, reserved, shape_of_chunk, cut_starts, cuts, ends):
    """Write the end of each token of each chunk, and return their number, or -1 if a word that was replaced is divided.

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
        min_digits = _min_digits(text, at, stop)
        shape = shape_of_chunk[chunk]
        in_shape = 0
        cut = cut_starts[shape]
        while at < stop:
            end, size = _next_run(text, at, stop, min_digits, reserved)
            in_shape += size if size else end - at
            while cuts[cut] < in_shape:
                if size:
                    return -1
                ends[n] = end - (in_shape - cuts[cut])
                n += 1
                cut += 1
            if cuts[cut] == in_shape:
                ends[n] = end
                n += 1
                cut += 1
            at = end
    return n


@kernel
def hash_words(text, offsets):
    """Return the hash of each word or number without regard to case, (words,) uint64."""
    hashes = np.empty(len(offsets) - 1, np.uint64)
    for word in range(len(hashes)):
        hashes[word] = _hash(text, offsets[word], offsets[word + 1])
    return hashes


@kernel
def _min_digits(text, start, stop):
    """Return the minimum number of digits of a number that is replaced in a chunk."""
    for i in range(start, stop):
        if text[i] == _PERIOD:
            return MIN_DIGITS_WITH_PERIOD
    return MIN_DIGITS


@kernel
def _next_run(text, at, stop, min_digits, reserved):
    """Return the end of the word, number or other byte at a position, and its size in the shape; 0 if it stays."""
    end = at
    if 97 <= text[at] | _CASE_BIT <= 122:
        while end < stop and 97 <= text[end] | _CASE_BIT <= 122:
            end += 1
        is_replaced = end - at >= 2 and _has_one_case(text, at, end)
        size = min(end - at, SHAPE_LETTERS)
    elif 48 <= text[at] <= 57:
        while end < stop and 48 <= text[end] <= 57:
            end += 1
        is_replaced = end - at >= min_digits
        size = min(end - at, SHAPE_DIGITS)
    else:
        return at + 1, 0
    if is_replaced:
        code = _hash(text, at, end)
        position = np.searchsorted(reserved, code)
        if position == len(reserved) or reserved[position] != code:
            return end, size
    return end, 0


@kernel
def _has_one_case(text, start, end):
    """Return whether a word of at least two letters is lowercase, uppercase or capitalized."""
    is_upper = text[start + 1] < 97
    if is_upper and text[start] >= 97:
        return False
    for i in range(start + 2, end):
        if (text[i] < 97) != is_upper:
            return False
    return True


@kernel
def _hash(text, start, end):
    """Return the FNV-1a hash of letters in lowercase, or of digits."""
    code = np.uint64(0xCBF29CE484222325)
    for i in range(start, end):
        code = (code ^ np.uint64(text[i] | _CASE_BIT)) * np.uint64(0x100000001B3)
    return code
