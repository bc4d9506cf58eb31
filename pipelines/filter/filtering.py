"""What of documents is kept: spans and sentences all of whose words are known, and a tally of all others."""

from collections import Counter
from collections.abc import Iterator
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from pipelines.filter.lexicon import GOES_ON, IS_WORD, MAY_END, UNKNOWN, Lexicon
from pipelines.filter.options import FilterOptions
from pipelines.filter.segmentation import overlapping, sentences, split_words
from pipelines.filter.splits import PARTS, part_of

SPANS, SENTENCES = "spans", "sentences"

# Words that a sentence has at least, as in the study's own code: "Yes." and its like would be every tenth.
SHORTEST_SENTENCE = 5

# Unknown words as they are written that are counted at a time; above that, the rarer half is forgotten.
_COUNTED = 1_000_000


class Kept(NamedTuple):
    """A span that is kept."""

    part: str
    level: str
    text: str


class DocumentFilter:
    """Goes through the documents of one source, holding one of them at a time.

    Args:
        lexicon: of the words in use.
        options: how documents are cut.
    """

    def __init__(self, lexicon: Lexicon, options: FilterOptions):
        self._lexicon = lexicon
        self._options = options
        self._packed: dict[str, list[str]] = {part: [] for part in PARTS}
        self._unknown: Counter[str] = Counter()
        self.counts: dict[str, Any] = {"documents": dict.fromkeys(PARTS, 0), "words": 0}
        for level in options.levels:
            names = ("looked_at", "kept", "unknown_words", "too_few_words", "words_kept")
            self.counts[level] = dict.fromkeys(names, 0)
        if SENTENCES in options.levels:
            self.counts[SENTENCES] |= {"spans": 0, "words_left_over": 0}

    def keep(self, document: str) -> Iterator[Kept]:
        """What is kept of the next document, and of sentences before it that fill a span now."""
        words, paragraph_ends = split_words(document)
        part = part_of(document, self._options.held_out_share)
        bits = self._lexicon.verdicts(words)
        self._tell(part, words, bits)
        if SPANS in self._options.levels:
            cuts = overlapping(len(words), self._options.span, self._options.stride)
            for start, stop in self._known(SPANS, bits, *cuts, self._options.min_span_words):
                yield Kept(part, SPANS, " ".join(words[start:stop]))
        if SENTENCES in self._options.levels:
            cuts = sentences((bits & MAY_END) > 0, (bits & GOES_ON) > 0, paragraph_ends)
            for start, stop in self._known(SENTENCES, bits, *cuts, SHORTEST_SENTENCE):
                yield from self._pack(part, words[start:stop])

    def finish(self) -> Iterator[Kept]:
        """The sentences that have not filled a span, where they are as many words as a span has at least."""
        for part, words in self._packed.items():
            if len(words) >= self._options.min_span_words:
                yield self._packed_span(part)
            elif words:
                self.counts[SENTENCES]["words_left_over"] += len(words)

    def most_frequent_unknown(self, number: int) -> dict[str, int]:
        """So many words that are not known, with how often they occurred; see `most_frequent`."""
        counts: Counter[str] = Counter()
        for written, count in self._unknown.items():
            for word in self._lexicon.unknown_in(written):
                counts[word] += count
        return most_frequent(counts, number)

    def _tell(self, part: str, words: list[str], bits: np.ndarray) -> None:
        self.counts["documents"][part] += 1
        self.counts["words"] += len(words)
        self._unknown.update(compress(words, (bits & UNKNOWN).tobytes()))
        if len(self._unknown) > _COUNTED:
            self._unknown = Counter(dict(self._unknown.most_common(_COUNTED // 2)))

    def _known(
        self, level: str, bits: np.ndarray, starts: np.ndarray, stops: np.ndarray, shortest: int
    ) -> Iterator[tuple[int, int]]:
        """Where the cuts are whose words are all known, if they are enough; all are told in the tally."""
        # Sums from the start of the document, so that a span takes two look-ups, however long.
        is_known = _between(bits & UNKNOWN, starts, stops) == 0
        is_long = _between((bits & IS_WORD) > 0, starts, stops) >= shortest
        kept = np.flatnonzero(is_known & is_long)
        tally = self.counts[level]
        tally["looked_at"] += len(starts)
        tally["kept"] += len(kept)
        tally["unknown_words"] += int(np.count_nonzero(~is_known))
        tally["too_few_words"] += int(np.count_nonzero(is_known & ~is_long))
        tally["words_kept"] += int((stops[kept] - starts[kept]).sum())
        return zip(starts[kept].tolist(), stops[kept].tolist(), strict=True)

    def _pack(self, part: str, sentence: list[str]) -> Iterator[Kept]:
        if self._packed[part] and len(self._packed[part]) + len(sentence) > self._options.span:
            yield self._packed_span(part)
        self._packed[part] += sentence

    def _packed_span(self, part: str) -> Kept:
        words, self._packed[part] = self._packed[part], []
        self.counts[SENTENCES]["spans"] += 1
        return Kept(part, SENTENCES, " ".join(words))


def most_frequent(counts: dict[str, int], number: int | None) -> dict[str, int]:
    """So many words of the highest counts (None for all), in their order; equal ones in the order of their names."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:number])


def _between(values: np.ndarray, starts: np.ndarray, stops: np.ndarray) -> np.ndarray:
    """Sums of values from each start up to its stop: [starts], int64."""
    sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(values, dtype=np.int64)])
    return sums[stops] - sums[starts]
