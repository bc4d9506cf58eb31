"""Tokenization of chunks by their shapes.

spaCy's rules look at the letters of a word in special cases, such as "gonna", and in units, such as "mbar". To other
words, they apply patterns of marks, digits and letters of either case, so "garden,", "kitchen," and "obviously," are
divided at the same place. Here, such words are replaced by qqqq, Qqqq or QQQQ before the rule is applied. One chunk of
English text in four or five needs the rule then.

Words of mixed case, of fewer than four letters, and chunks with other characters than those of ASCII are not replaced.
spaCy's patterns examine at most three characters on either side of a token's end, so four letters are enough, and the
parts of a host's name have at most 63 characters, so longer chunks are not replaced.
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

# Number of letters of the shape of a word. Words with fewer letters are not replaced.
SHAPE_LETTERS = 4

_SHAPE = np.uint8(ord("q"))
_CASE_BIT = np.uint8(0x20)


class ShapedRule:
    """Rule that divides chunks of the same shape at the same places.

    Args:
        rule: rule that splits chunks into tokens, without change of case.
        lowercase: lowercase the tokens.
        reserved: strings with words whose letters matter to the rule. Other words are replaced.
    """

    def __init__(self, rule: Rule, lowercase: bool, reserved: Iterable[str]):
        self._rule = rule
        self._lowercase = lowercase
        self.joins = rule.joins
        runs = {run.lower() for string in reserved for run in re.findall("[A-Za-z]{4,}", string)}
        words = pa.array(sorted(runs), pa.large_string())
        self._reserved = np.unique(hash_words(*_buffers(words)))
        self._forget()

    def __call__(self, chunks: pa.LargeStringArray) -> ChunkTokens:
        """Return the tokens of chunks."""
        if len(self._shapes) > MAX_SHAPES:
            self._forget()
        has_shape = pc.and_(
            pc.and_(pc.string_is_ascii(chunks), pc.less_equal(pc.binary_length(chunks), MAX_CHUNK_BYTES)),
            pc.invert(pc.match_substring(chunks, " ")),
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
        return ChunkTokens(words, sizes)


def _buffers(strings: pa.LargeStringArray) -> tuple[np.ndarray, np.ndarray]:
    """Return the bytes of strings, and the start of each string, followed by the end of the last."""
    if not len(strings):
        return np.empty(0, np.uint8), np.zeros(1, np.int64)
    offsets = np.frombuffer(strings.buffers()[1], np.int64)[strings.offset :][: len(strings) + 1]
    # An array of empty strings can lack the buffer of bytes.
    return np.frombuffer(strings.buffers()[2] or b"", np.uint8)[: offsets[-1]], offsets


def _lower(tokens: pa.LargeStringArray) -> pa.LargeStringArray:
    """Return tokens in lowercase, as spaCy's `lower_`. Arrow has other rules for some letters."""
    coded = tokens.dictionary_encode()
    lower = pa.array([word.lower() for word in coded.dictionary.to_pylist()], pa.large_string())
    return lower.take(coded.indices)


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
