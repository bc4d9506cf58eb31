"""Document filter: keeps spans and sentences whose words are all in the vocabulary, and counts the others."""

from collections import Counter
from collections.abc import Iterator
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from pipelines.clean.segmentation import find_sentences, overlapping_spans, split_words
from training.studies.downscaling.filter.document_splits import PARTS, part_of
from training.studies.downscaling.filter.lexicon import BEGINS_LOWER, HAS_WORD, MAY_END, UNKNOWN, Lexicon
from training.studies.downscaling.filter.options import FilterOptions

SPANS, SENTENCES = "spans", "sentences"

# Minimum number of words of a sentence, as in the code of Deshpande et al. Without it, one in ten kept sentences would
# be as short as "Yes."
MIN_SENTENCE_WORDS = 5

# Maximum number of distinct unknown tokens that are counted. Above it, the rarer half is dropped.
_MAX_UNKNOWN = 1_000_000


class KeptSpan(NamedTuple):
    """A span of the filtered corpus."""

    part: str
    """`train`, `development` or `test`: the part of the document."""
    level: str
    """`spans` for a span of the document, `sentences` for packed sentences."""
    text: str
    """Words of the span, separated by single spaces."""


class DocumentFilter:
    """Filter for the documents of one source. It holds one document at a time in memory.

    Args:
        lexicon: the vocabulary.
        options: options of the filter.
    """

    def __init__(self, lexicon: Lexicon, options: FilterOptions):
        self._lexicon = lexicon
        self._options = options
        self._packed: dict[str, list[str]] = {part: [] for part in PARTS}
        self._unknown: Counter[str] = Counter()
        self.counts: dict[str, Any] = {"documents": dict.fromkeys(PARTS, 0), "words": 0}
        for level in options.levels:
            names = ("examined", "kept", "unknown_words", "too_few_words", "words_kept")
            self.counts[level] = dict.fromkeys(names, 0)
        if SENTENCES in options.levels:
            self.counts[SENTENCES] |= {"spans": 0, "words_left_over": 0}

    def filter(self, document: str) -> Iterator[KeptSpan]:
        """Yield the kept spans of a document, and spans of packed sentences as soon as they are full."""
        words, paragraph_ends = split_words(document)
        part = part_of(document, self._options.held_out_share)
        flags = self._lexicon.classify(words)
        self._count_words(part, words, flags)
        if SPANS in self._options.levels:
            bounds = overlapping_spans(len(words), self._options.span, self._options.stride)
            for start, stop in self._select(SPANS, flags, *bounds, self._options.min_span_words):
                yield KeptSpan(part, SPANS, " ".join(words[start:stop]))
        if SENTENCES in self._options.levels:
            bounds = find_sentences((flags & MAY_END) > 0, (flags & BEGINS_LOWER) > 0, paragraph_ends)
            for start, stop in self._select(SENTENCES, flags, *bounds, MIN_SENTENCE_WORDS):
                yield from self._pack(part, words[start:stop])

    def finish(self) -> Iterator[KeptSpan]:
        """Yield the last span of packed sentences of each part, if it has the minimum number of words."""
        for part, words in self._packed.items():
            if len(words) >= self._options.min_span_words:
                yield self._pop_packed(part)
            elif words:
                self.counts[SENTENCES]["words_left_over"] += len(words)

    def most_frequent_unknown(self, number: int) -> dict[str, int]:
        """Return the counts of the most frequent unknown words, in the order of `most_frequent`."""
        counts: Counter[str] = Counter()
        for token, count in self._unknown.items():
            for word in self._lexicon.unknown_in(token):
                counts[word] += count
        return most_frequent(counts, number)

    def _count_words(self, part: str, words: list[str], flags: np.ndarray) -> None:
        self.counts["documents"][part] += 1
        self.counts["words"] += len(words)
        self._unknown.update(compress(words, (flags & UNKNOWN).tobytes()))
        if len(self._unknown) > _MAX_UNKNOWN:
            self._unknown = Counter(dict(self._unknown.most_common(_MAX_UNKNOWN // 2)))

    def _select(
        self, level: str, flags: np.ndarray, starts: np.ndarray, stops: np.ndarray, min_words: int
    ) -> Iterator[tuple[int, int]]:
        """Count all spans, and return start and stop of those that are in the vocabulary and have enough words."""
        is_known = _range_sums(flags & UNKNOWN, starts, stops) == 0
        is_long = _range_sums((flags & HAS_WORD) > 0, starts, stops) >= min_words
        kept = np.flatnonzero(is_known & is_long)
        counts = self.counts[level]
        counts["examined"] += len(starts)
        counts["kept"] += len(kept)
        counts["unknown_words"] += int(np.count_nonzero(~is_known))
        counts["too_few_words"] += int(np.count_nonzero(is_known & ~is_long))
        counts["words_kept"] += int((stops[kept] - starts[kept]).sum())
        return zip(starts[kept].tolist(), stops[kept].tolist(), strict=True)

    def _pack(self, part: str, sentence: list[str]) -> Iterator[KeptSpan]:
        if self._packed[part] and len(self._packed[part]) + len(sentence) > self._options.span:
            yield self._pop_packed(part)
        self._packed[part] += sentence

    def _pop_packed(self, part: str) -> KeptSpan:
        words, self._packed[part] = self._packed[part], []
        self.counts[SENTENCES]["spans"] += 1
        return KeptSpan(part, SENTENCES, " ".join(words))


def most_frequent(counts: dict[str, int], number: int | None) -> dict[str, int]:
    """Return the words with the highest counts, in descending order. Words with equal counts are sorted alphabetically.

    Args:
        counts: counts by word.
        number: maximum number of words to return; None for all.
    """
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:number])


def _range_sums(values: np.ndarray, starts: np.ndarray, stops: np.ndarray) -> np.ndarray:
    """Return the sum of the values of each range, (ranges,) int64, as a difference of cumulative sums."""
    sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(values, dtype=np.int64)])
    return sums[stops] - sums[starts]
