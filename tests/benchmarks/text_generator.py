"""Generator of text whose distinct words and pairs grow as those of a real text are expected to.

The first pass over the real text yields its documents as they are, in random order. In all further passes, the words of
a document are put together from fragments of the document at random positions, which makes new pairs, and rare words
are replaced by new ones. The length of the fragments and the share of new words are adjusted after each block, such
that the numbers of distinct pairs and words follow the growth laws of `bitcipher plan`, fitted to the real text.
"""

from collections.abc import Generator, Iterator
from itertools import product

import growth_kernels as kernels
import numpy as np
from real_text import RealText

from pipelines.estimate.growth_law import PAIRS_BENDING, WORDS_BENDING, GrowthLaw, fit_growth_law

SKETCH_SLOTS = 1 << 22  # the standard error of the number of distinct pairs is about 0.1 %
RECENT_WORDS = 1 << 22
BLOCK_TOKENS = 1 << 18
PASSAGE_TOKENS = 2000
MIN_FRAGMENT, MAX_FRAGMENT = 1.01, 200.0
FIRST_FRAGMENT = 8.0

# Sizes at which the growth of the real text is measured: 1/64, 1/32 … 1 of its tokens.
FIRST_SHARE = 6

SYLLABLES = np.array([[ord(a), ord(b)] for a, b in product("bcdfghjklmnprstvwz", "aeiou")], np.uint8)


class TextGenerator:
    """Generates documents. The same real text and seed give the same documents.

    Args:
        real: the real text.
        seed: seed of the random numbers.
    """

    def __init__(self, real: RealText, seed: int = 1):
        self._real = real
        self._random = np.random.default_rng(seed)
        self._state = np.array([seed], np.uint64)
        self._marker = _find_marker(real)
        self._table, self._sketch = np.zeros(SKETCH_SLOTS, np.uint64), np.zeros(2, np.int64)
        self._stamps = np.full(real.words, -1, np.int64)
        self._replacements = np.zeros(real.words, np.int32)
        self._recent = np.zeros(RECENT_WORDS, np.int32)
        self._numbers = np.array([0, real.words], np.int64)
        self._buffer = np.empty(0, np.uint8)
        self._documents = 0
        self.tokens = 0

    @property
    def pairs(self) -> int:
        """Estimated number of distinct pairs of an offset and two words so far."""
        return int(self._sketch[0]) << int(self._sketch[1])

    @property
    def words(self) -> int:
        """Number of distinct words so far, after the first pass."""
        return int(self._numbers[1])

    def documents(self) -> Iterator[bytes]:
        """Yield documents in JSON, without end."""
        words, pairs = yield from self._first_pass()
        fragment, new_share = FIRST_FRAGMENT, 0.5
        rare_words, end = int(self._numbers[0]), self.tokens + BLOCK_TOKENS
        pairs_before = self.pairs
        while True:
            for number in self._random.permutation(len(self._real.ends)):
                chunks = self._chunks(number)
                chunks = chunks[kernels.recombine(len(chunks), fragment, self._state)]
                yield self._write(chunks, self._respell(chunks, new_share))
                if self.tokens < end:
                    continue
                end = self.tokens + BLOCK_TOKENS
                rare, rare_words = int(self._numbers[0]) - rare_words, int(self._numbers[0])
                new_share = min(1.0, max(0.0, (words.at(end) - self.words) / max(1, rare)))
                made, pairs_before = self.pairs - pairs_before, self.pairs
                needed = max(1.0, pairs.at(end) - self.pairs)
                # Noise of the estimate is damped by the square root.
                fragment = 1 + (fragment - 1) * np.sqrt(max(1, made) / needed)
                fragment = min(MAX_FRAGMENT, max(MIN_FRAGMENT, fragment))

    def _first_pass(self) -> Generator[bytes, None, tuple[GrowthLaw, GrowthLaw]]:
        """Yield the documents of the real text; return the growth laws of words and of pairs."""
        real = self._real
        order = self._random.permutation(len(real.ends))
        passages = np.zeros(real.words, np.int64)
        sizes = np.diff(real.ends, prepend=0)[order].cumsum()
        marks = [int(sizes[-1]) >> shift for shift in range(FIRST_SHARE, -1, -1)]
        points, chunks_done = [], 0
        for number in order:
            chunks = self._chunks(number)
            words = np.full(len(chunks), -1, np.int32)
            tokens = self._tokens(chunks, words)
            for start in range(0, len(tokens), PASSAGE_TOKENS):
                passages[np.unique(tokens[start : start + PASSAGE_TOKENS])] += 1
            kernels.remember_document(
                chunks, real.cores, self._stamps, self._documents, self._recent, self._numbers, self._state
            )
            yield self._write(chunks, words)
            chunks_done += len(chunks)
            if chunks_done >= marks[len(points)]:
                points.append((self.tokens, np.count_nonzero(passages), self.pairs))
        tokens, words, pairs = zip(*points, strict=True)
        exponent = float(np.count_nonzero(passages == 1) / np.count_nonzero(passages))
        return (
            fit_growth_law(tokens, words, WORDS_BENDING, exponent=exponent),
            fit_growth_law(tokens, pairs, PAIRS_BENDING),
        )

    def _chunks(self, number: int) -> np.ndarray:
        ends = self._real.ends
        return self._real.ids[ends[number - 1] if number else 0 : ends[number]]

    def _tokens(self, chunks: np.ndarray, words: np.ndarray) -> np.ndarray:
        real = self._real
        return kernels.to_tokens(chunks, words, real.chunk_starts, real.chunk_tokens, real.cores)

    def _respell(self, chunks: np.ndarray, new_share: float) -> np.ndarray:
        return kernels.respell(
            chunks,
            self._real.cores,
            new_share,
            self._replacements,
            self._stamps,
            self._documents,
            self._recent,
            self._numbers,
            self._state,
        )

    def _write(self, chunks: np.ndarray, words: np.ndarray) -> bytes:
        """Count the pairs of a document, and return its text."""
        real = self._real
        tokens = self._tokens(chunks, words)
        kernels.count_pairs(tokens, self._table, self._sketch)
        self.tokens += len(tokens)
        self._documents += 1
        size = int((real.text_starts[chunks + 1] - real.text_starts[chunks]).sum()) + 32 * len(chunks)
        if size > len(self._buffer):
            self._buffer = np.empty(size, np.uint8)
        length = kernels.write_text(
            chunks,
            words,
            real.texts,
            real.text_starts,
            real.core_places,
            real.word_texts,
            real.word_starts,
            SYLLABLES,
            self._marker,
            self._buffer,
        )
        return self._buffer[:length].tobytes()


def _find_marker(real: RealText) -> np.ndarray:
    """Return two letters that do not occur in the words of the real text, or three, as (n,) uint8."""
    text = real.word_texts.tobytes()
    for length in (2, 3, 4):
        for letters in product(b"qxzjkvw", repeat=length):
            if bytes(letters) not in text:
                return np.array(letters, np.uint8)
    raise SystemExit("The words of the real text contain all combinations of rare letters.")
