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

from pipelines.tokenizers import shape_kernels as kernels
from pipelines.tokenizers.chunk_tokenizer import Rule
from pipelines.tokenizers.chunk_tokens import ChunkTokens, merge_tokens

# Maximum number of bytes of a chunk whose words are replaced.
MAX_CHUNK_BYTES = 60

# Number of known shapes above which they are forgotten: 40 MB.
MAX_SHAPES = 500_000


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
        self._reserved = np.unique(kernels.hash_words(*_buffers(words)))
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
        kernels.write_shapes(text, offsets, self._reserved, shapes, ends[1:])
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
        cut = kernels.cut_chunks(text, offsets, self._reserved, shapes, self._cut_starts, self._cuts, ends[1:])
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
