"""Tokenizer that applies its rule to each distinct chunk of text once.

Text is split into chunks at white space. A rule, such as that of spaCy, splits a chunk into tokens when the chunk
occurs first. The tokens are cached, also for later shards. A full cache is cleared, which does not change the tokens.
"""

from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bitcipher.counts.tokenized_shard import TokenizedShard
from bitcipher.normalization import normalize
from pipelines.tokenizers import chunk_kernels as kernels
from pipelines.tokenizers.boundary_rules import BoundaryRules

# Maximum number of chunks in the cache: 400 MB, with about 200 bytes per chunk and its tokens.
MAX_CHUNKS = 2_000_000

# Maximum number of bytes of all chunks in the cache. It is reached only if the average chunk has more than 128 bytes.
MAX_CHUNK_BYTES = 1 << 28


# Number of new chunks per call of the rule, so that its working memory does not depend on the text.
CHUNKS_PER_CALL = 1 << 18

# Pattern of characters that are neither ASCII nor a dash, a quotation mark or an ellipsis of typeset text.
_NOT_TYPESET = "[^\\x00-\\x7f\u2013\u2014\u2018\u2019\u201c\u201d\u2026]"


class ChunkTokens(NamedTuple):
    """Tokens of several chunks."""

    words: pa.LargeStringArray
    """The tokens of all chunks, in order."""
    sizes: np.ndarray
    """Number of tokens of each chunk, (chunks,) int64."""


class Rule(Protocol):
    """Rule that splits chunks into tokens.

    Attributes:
        joins: pairs of strings. If a chunk ends with the first string of a pair, and the next chunk, after one space,
            begins with the second, the rule can join them, so both chunks are tokenized together.
    """

    joins: frozenset[tuple[str, str]]

    def __call__(self, chunks: pa.LargeStringArray) -> ChunkTokens:
        """Return the tokens of chunks."""
        ...


class ChunkTokenizer:
    """Tokenizer with a cache of text chunks.

    Args:
        rule: rule that splits chunks into tokens.
        max_chunks: maximum number of chunks in the cache. If the cache has more chunks, or more than
            `MAX_CHUNK_BYTES` of text, it is full, and is cleared before the next documents.
    """

    def __init__(self, rule: Rule, max_chunks: int = MAX_CHUNKS):
        self._rule = rule
        self._max_chunks = max_chunks
        self._clear()

    def tokenize(self, documents: pa.LargeStringArray, in_part: bool = False) -> TokenizedShard:
        """Return the tokens of documents; in part, if the cache is full before the last document."""
        if self._is_full():
            self._clear()
        numbers, ends, boundaries = self._number_chunks(documents, in_part)
        self._join_chunks(numbers, boundaries)
        self._tokenize_new_chunks()
        if self._are_words:
            return TokenizedShard(self._words, numbers, ends)
        self._fill_heads()
        total = kernels.count_tokens(numbers, self._heads)
        ids = np.empty(total + kernels.HEAD_TOKENS, np.int32)
        ends = kernels.expand(numbers, ends, self._heads, self._token_starts, self._tokens, ids)
        return TokenizedShard(self._words, ids[:total], ends)

    def _is_full(self) -> bool:
        return self._known > self._max_chunks or self._starts[self._known] > MAX_CHUNK_BYTES

    def _clear(self) -> None:
        self._known = 0
        self._table = kernels.empty_table(1 << 16)
        self._starts = np.zeros(1 << 15, np.int64)
        self._arena = np.empty(1 << 18, np.uint8)
        self._token_starts = np.zeros(1, np.int64)
        self._tokens = np.empty(0, np.int32)
        # Whether each chunk is one token, whose number is that of the chunk.
        self._are_words = not self._rule.joins
        self._heads = np.zeros((1, 1 + kernels.HEAD_TOKENS), np.int32)  # see `kernels.expand`
        self._words = pa.array([], pa.large_string())
        self._joined: dict[str, int] = {}
        self._boundaries = BoundaryRules(self._rule.joins)

    def _number_chunks(
        self, documents: pa.LargeStringArray, in_part: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the number of each chunk, the end of each document in them, and the candidates for joining."""
        offsets = np.frombuffer(documents.buffers()[1], np.int64)[documents.offset :][: len(documents) + 1]
        # An array of empty strings can lack the text buffer.
        text = np.frombuffer(documents.buffers()[2] or b"", np.uint8)[: offsets[-1]]
        # Upper bound of the number of chunks: at least one byte, or the end of a document, separates two chunks.
        numbers = np.empty((offsets[-1] - offsets[0] + len(documents)) // 2 + 1, np.int32)
        boundaries = np.empty(len(numbers), np.int32)  # memory that is not filled is not used
        ends = np.empty(len(documents), np.int64)
        document, at, n, found = 0, offsets[0], 0, 0
        while document < len(documents):
            document, at, self._known, n, found = kernels.number_chunks(
                text,
                offsets[1:],
                document,
                at,
                self._table,
                self._starts,
                self._arena,
                self._known,
                self._boundaries.meets,
                numbers,
                ends,
                n,
                boundaries,
                found,
            )
            if in_part and 0 < document < len(documents) and self._is_full():
                n = int(ends[document - 1])
                found = np.searchsorted(boundaries[:found], n)
                return numbers[:n], ends[:document], boundaries[:found]
            if document < len(documents):
                self._grow(int(offsets[document + 1] - at))
        return numbers[:n], ends, boundaries[:found]

    def _join_chunks(self, numbers: np.ndarray, boundaries: np.ndarray) -> None:
        """Replace chunks that must be tokenized together by one chunk with spaces in it, and by -1."""
        pairs = numbers[boundaries - 1].astype(np.int64) << 32 | numbers[boundaries]
        distinct, kind = np.unique(pairs, return_inverse=True)
        joins = [self._may_join(pair >> 32, pair & 0xFFFFFFFF) for pair in distinct.tolist()]
        positions = boundaries[np.array(joins, np.bool_)[kind]]
        for run in np.split(positions, np.flatnonzero(np.diff(positions) > 1) + 1) if len(positions) else []:
            joined = " ".join(self._chunk(number) for number in numbers[run[0] - 1 : run[-1] + 1])
            numbers[run[0] - 1] = self._number_of(joined)
        numbers[positions] = -1

    def _may_join(self, before: int, after: int) -> bool:
        return self._boundaries.may_join(self._chunk(before), self._chunk(after))

    def _chunk(self, number: int) -> str:
        return self._arena[self._starts[number] : self._starts[number + 1]].tobytes().decode()

    def _number_of(self, chunk: str) -> int:
        """Return the number of a joined chunk. It has spaces, so it is not in the table of `number_chunks`."""
        if chunk not in self._joined:
            content = np.frombuffer(chunk.encode(), np.uint8)
            while self._known + 1 >= len(self._starts) or self._starts[self._known] + len(content) > len(self._arena):
                self._grow(len(content))
            start = self._starts[self._known]
            self._arena[start : start + len(content)] = content
            self._starts[self._known + 1] = start + len(content)
            self._joined[chunk] = self._known
            self._known += 1
        return self._joined[chunk]

    def _grow(self, longest: int) -> None:
        """Double the capacity for chunks, and make room for a chunk of `longest` bytes."""
        self._starts = np.concatenate([self._starts, np.zeros_like(self._starts)])
        used = self._arena[: self._starts[self._known]]
        self._arena = np.concatenate([used, np.empty(len(self._arena) + longest, np.uint8)])
        self._table = kernels.empty_table(len(self._table))
        kernels.rebuild_table(self._table, self._starts, self._arena, self._known)

    def _tokenize_new_chunks(self) -> None:
        """Apply the rule to the chunks that have no tokens yet."""
        seen = len(self._token_starts) - 1
        if seen == self._known:
            return
        starts = self._starts[seen : self._known + 1]
        new = pa.LargeStringArray.from_buffers(
            self._known - seen, pa.py_buffer(starts - starts[0]), pa.py_buffer(self._arena[starts[0] : starts[-1]])
        )
        results = [self._rule(new.slice(start, CHUNKS_PER_CALL)) for start in range(0, len(new), CHUNKS_PER_CALL)]
        tokens, sizes = pa.concat_arrays([each.words for each in results]), np.concatenate([r.sizes for r in results])
        del results
        self._tokens = np.concatenate([self._tokens, self._number_words(tokens)])
        self._token_starts = np.concatenate([self._token_starts, self._token_starts[-1] + np.cumsum(sizes)])
        if self._are_words:
            new_tokens = self._tokens[self._token_starts[seen] :]
            self._are_words = bool((sizes == 1).all()) and np.array_equal(new_tokens, np.arange(seen, self._known))

    def _fill_heads(self) -> None:
        """Add the rows of new chunks to `_heads`."""
        seen = len(self._heads) - 1
        if seen < self._known:
            heads = np.zeros((self._known + 1, self._heads.shape[1]), np.int32)
            heads[:seen] = self._heads[:seen]
            kernels.fill_heads(self._token_starts, self._tokens, seen, heads)
            self._heads = heads

    def _number_words(self, tokens: pa.LargeStringArray) -> np.ndarray:
        """Return the number of each token, (tokens,) int32. New words get the next free numbers."""
        coded = tokens.dictionary_encode()
        numbers = np.array(pc.index_in(coded.dictionary, self._words).fill_null(-1), np.int32)
        is_new = numbers < 0
        numbers[is_new] = len(self._words) + np.arange(np.count_nonzero(is_new))
        self._words = pa.concat_arrays([self._words, coded.dictionary.filter(pa.array(is_new))])
        return numbers[coded.indices.to_numpy()]


def merge_tokens(is_second: np.ndarray, first: ChunkTokens, second: ChunkTokens) -> ChunkTokens:
    """Return the tokens of chunks in order, from those of two kinds of chunks.

    Args:
        is_second: (chunks,) bool, the kind of each chunk.
        first, second: tokens of the chunks of both kinds.
    """
    sizes = np.empty(len(is_second), np.int64)
    sizes[~is_second], sizes[is_second] = first.sizes, second.sizes
    of_second = np.repeat(is_second, sizes)
    positions = np.empty(len(of_second), np.int64)
    positions[~of_second] = np.arange(len(first.words))
    positions[of_second] = len(first.words) + np.arange(len(second.words))
    return ChunkTokens(pa.concat_arrays([first.words, second.words]).take(pa.array(positions)), sizes)


class NormalizedRule:
    """Rule for chunks of text that are normalized first. Each distinct chunk is normalized once, and none of ASCII.

    Args:
        rule: rule that splits chunks into tokens.
    """

    def __init__(self, rule: Rule):
        self._rule = rule
        self.joins = rule.joins

    def __call__(self, chunks: pa.LargeStringArray) -> ChunkTokens:
        """Return the tokens of chunks. A chunk of invisible characters alone has none."""
        chunks = normalize_strings(chunks)
        is_empty = pc.equal(pc.binary_length(chunks), 0)
        if not pc.any(is_empty).as_py():
            return self._rule(chunks)
        has_text = ~is_empty.to_numpy(zero_copy_only=False)
        tokens = self._rule(chunks.filter(pa.array(has_text)))
        sizes = np.zeros(len(chunks), np.int64)
        sizes[has_text] = tokens.sizes
        return ChunkTokens(tokens.words, sizes)


def normalize_strings(strings: pa.LargeStringArray) -> pa.LargeStringArray:
    """Return strings with those normalized that have other characters than ASCII and usual marks of typeset text."""
    is_other = pc.invert(pc.string_is_ascii(strings))
    if not pc.any(is_other).as_py():
        return strings
    # In books, most other strings have quotation marks, dashes and ellipses, which normalization does not change.
    has_letters = pc.match_substring_regex(strings.filter(is_other), _NOT_TYPESET)
    is_other = pc.replace_with_mask(is_other, is_other, has_letters)
    if not pc.any(is_other).as_py():
        return strings
    normalized = [normalize(each) for each in strings.filter(is_other).to_pylist()]
    return pc.replace_with_mask(strings, is_other, pa.array(normalized, pa.large_string()))
