"""Ranges of words in the order of their UTF-8 bytes, for work whose memory must not grow with the number of words.

The words of several segments are split into ranges by samples: a word of each segment for every so many words, or
entries (stored pairs), of the segment. Nothing but the samples is held in memory.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from bitcipher.counts.segment import iter_word_groups, iter_words


class WordRange(NamedTuple):
    """The words from `start` on and before `stop`, in the order of their UTF-8 bytes."""

    start: bytes
    stop: bytes | None
    """None if the range has no end."""

    def positions(self, words: pa.Table) -> tuple[int, int]:
        """Return the first row of the range in a table sorted by its column word, and the row after the last one."""
        names = words["word"].combine_chunks()
        return _position(names, self.start), len(names) if self.stop is None else _position(names, self.stop)

    def select(self, words: pa.Table) -> pa.Table:
        """Return the rows of the range in a table sorted by its column word.

        They are a copy, unless they are the whole table: a slice would keep all of the table in memory.
        """
        start, stop = self.positions(words)
        return words if stop - start == len(words) else words.take(pa.array(np.arange(start, stop)))

    def iter_words(self, part: str) -> Iterator[pa.Table]:
        """Yield the words of a part in the range, some at a time. Row groups with other words only are not read.

        Raises:
            BitcipherError: if the file is missing or damaged.
        """
        for group in iter_word_groups(part):
            if not group.compare(self.start, self.stop):
                yield self.select(group.read())


ALL_WORDS = WordRange(b"", None)


class SegmentSample(NamedTuple):
    """Sampled words of a segment."""

    size: int
    """Number of words of the segment."""
    words: list[bytes]
    """Words that split the segment into pieces of at most the same weight. A word can occur several times."""
    part_starts: list[bytes]
    """First word of each part of the segment."""

    def parts_in(self, parts: Sequence[str], words: WordRange) -> list[str]:
        """Return the parts that can have words of a range.

        Args:
            parts: the parts of the sampled segment.
            words: the range.
        """
        stops = [*self.part_starts[1:], None]
        return [
            part
            for part, start, stop in zip(parts, self.part_starts, stops, strict=True)
            if (words.stop is None or start < words.stop) and (stop is None or words.start < stop)
        ]


def sample_step(limit: int, segments: int) -> int:
    """Return the weight of the pieces between sampled words such that ranges of `limit` can be chosen."""
    return max(1, limit // (4 * segments))


def sample_words(parts: Iterable[str], weight: str | None, step: int) -> SegmentSample:
    """Sample the words of a segment, some at a time.

    Args:
        parts: URIs of the parts of the segment.
        weight: column of the words that is their weight, or None if each word has the weight 1.
        step: maximum weight of the words between two sampled words.
    """
    size = before = 0
    words: list[bytes] = []
    starts: list[bytes] = []
    for part in parts:
        for number, table in enumerate(iter_words(part)):
            weights = np.ones(len(table), np.int64) if weight is None else table[weight].to_numpy()
            ends = before + np.cumsum(weights)
            sampled = np.repeat(np.arange(len(table)), ends // step - (ends - weights) // step)
            names = table["word"].cast(pa.large_binary())
            words += names.take(pa.array(sampled)).to_pylist()
            if number == 0:
                starts += names[:1].to_pylist() or [b""]
            size += len(table)
            before += int(weights.sum())
    return SegmentSample(size, words, starts)


def choose_ranges(samples: Iterable[SegmentSample], limit: int) -> list[WordRange]:
    """Split all words into ranges whose weight is at most `limit`, or that have one word.

    Args:
        samples: a sample of each segment, with the step `sample_step(limit, segments)`.
        limit: maximum weight of a range, summed over all segments.
    """
    samples = list(samples)
    # Each segment can have almost a piece more in a range than its sampled words show.
    pieces = max(1, limit // sample_step(limit, max(1, len(samples))) - len(samples))
    words = sorted(word for sample in samples for word in sample.words)
    return ranges_from([b"", *words[pieces::pieces]])


def ranges_from(starts: Iterable[bytes], stop: bytes | None = None) -> list[WordRange]:
    """Return the ranges that begin at the given words, sorted. The last one ends before `stop`."""
    firsts = sorted(set(starts))
    return [WordRange(*bounds) for bounds in zip(firsts, [*firsts[1:], stop], strict=False)]


def _position(words: pa.LargeStringArray, word: bytes) -> int:
    return bisect_left(words, word, key=lambda other: other.as_py().encode())
