"""`SegmentRanks`: the rank of each word number of a segment, in memory that grows with the vocabulary.

Most words of a large corpus are too rare for its vocabulary. They all have the rank of `<oov>`, so a bit is enough for
each of them, and only the words of the vocabulary need a number.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bitcipher.counts.bitset import count_before, position_of
from bitcipher.counts.segment import check_numbers, iter_words
from bitcipher.counts.word_ranges import WordRange
from bitcipher.errors import BitcipherError
from bitcipher.kernel_cache import kernel
from bitcipher.vocabulary import Vocabulary

_ONE = np.uint64(1)


@dataclass(frozen=True)
class SegmentRanks:
    """Rank of each word number of a segment. It is indexed like an array, (words,) int32, by arrays of numbers.

    Attributes:
        words: number of words V of the segment.
        oov_rank: rank of `<oov>`.
        bits: (V / 64 + 1,) uint64, one bit per word number, set for words of the vocabulary.
        before: (V / 64 + 1,) int64, how many bits are set in the preceding elements of `bits`.
        ranks: (n,) int32, ranks of the words of the vocabulary, in order of their numbers.
    """

    words: int
    oov_rank: int
    bits: np.ndarray
    before: np.ndarray
    ranks: np.ndarray

    def __len__(self) -> int:
        """Number of words of the segment."""
        return self.words

    def __getitem__(self, numbers: np.ndarray) -> np.ndarray:
        """Return the rank of each number, (n,) int32. All numbers must be below the number of words."""
        return _look_up(self.bits, self.before, self.ranks, numbers, self.oov_rank)


class RankFinder:
    """Finds the ranks of the words of segments.

    Args:
        vocabulary: the vocabulary.
    """

    def __init__(self, vocabulary: Vocabulary):
        self._ranks = vocabulary.by_bytes
        self._sorted = pa.table({"word": vocabulary.words.take(pa.array(self._ranks))})
        self._oov_rank = vocabulary.oov_rank

    def find(self, parts: Sequence[str], words: int) -> SegmentRanks:
        """Return the ranks of the words of a segment. Few words outside the vocabulary are held in memory.

        Args:
            parts: URIs of the parts of the segment.
            words: number of words of the segment.

        Raises:
            BitcipherError: if a file is missing or damaged.
        """
        seen, bits = np.zeros((2, (words >> 6) + 1), np.uint64)
        numbers, ranks = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
        for part in parts:
            for table in iter_words(part):
                of_table = table["number"].to_numpy()
                if not _insert(seen, of_table, words):
                    raise _damaged()
                known, ranks_of_table = self._look_up(table["word"].combine_chunks())
                numbers.append(of_table[known])
                ranks.append(ranks_of_table)
        all_numbers = np.concatenate(numbers)
        _insert(bits, all_numbers, words)
        before, known_words = count_before(bits)
        if count_before(seen)[1] != words:
            raise _damaged()
        ranks_by_number = np.empty(known_words, np.int32)
        _fill(bits, before, all_numbers, np.concatenate(ranks), ranks_by_number)
        return SegmentRanks(words, self._oov_rank, bits, before, ranks_by_number)

    def find_all(self, parts: Sequence[str]) -> np.ndarray:
        """Return the rank of each word number of a segment as an array, (words,) int32.

        Args:
            parts: URIs of the parts of the segment.

        Raises:
            BitcipherError: if a file is missing or damaged.
        """
        numbers, ranks = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
        for part in parts:
            for table in iter_words(part):
                ranks_of_table = np.full(len(table), self._oov_rank, np.int32)
                known, ranks_of_known = self._look_up(table["word"].combine_chunks())
                ranks_of_table[known] = ranks_of_known
                numbers.append(table["number"].to_numpy())
                ranks.append(ranks_of_table)
        ranks_by_number = np.empty(sum(map(len, numbers)), np.int32)
        ranks_by_number[check_numbers(np.concatenate(numbers))] = np.concatenate(ranks)
        return ranks_by_number

    def _look_up(self, words: pa.LargeStringArray) -> tuple[np.ndarray, np.ndarray]:
        """Return the positions of the words that are in the vocabulary, and their ranks.

        Arrow makes an index of the words that it looks among, so these are only those between the first and the last.

        Args:
            words: words in the order of their bytes.
        """
        if not len(words):
            return np.empty(0, np.int64), np.empty(0, np.int32)
        # The smallest string after a word is the word with a zero byte.
        first, stop = words[0].as_py().encode(), words[-1].as_py().encode() + b"\0"
        start, stop = WordRange(first, stop).positions(self._sorted)
        among = self._sorted["word"].combine_chunks().slice(start, stop - start)
        found = pc.index_in(words, among)
        known = np.flatnonzero(np.asarray(found.is_valid()))
        return known, self._ranks[start:stop][np.asarray(found.drop_null(), np.int64)]


def _damaged() -> BitcipherError:
    return BitcipherError("The words of a segment are damaged, because some of their numbers are missing: build again.")


@kernel
def _insert(bits, numbers, words):
    """Add numbers to a bitset. Return whether all of them are below `words`."""
    for number in numbers:
        if not 0 <= number < words:
            return False
        bits[number >> 6] |= _ONE << np.uint64(number & 63)
    return True


@kernel
def _fill(bits, before, numbers, ranks, ranks_by_number):
    for i in range(len(numbers)):
        ranks_by_number[position_of(bits, before, numbers[i])] = ranks[i]


@kernel
def _look_up(bits, before, ranks, numbers, oov_rank):
    found = np.empty(len(numbers), np.int32)
    for i in range(len(numbers)):
        number = numbers[i]
        found[i] = oov_rank
        if bits[number >> 6] >> np.uint64(number & 63) & _ONE:
            found[i] = ranks[position_of(bits, before, number)]
    return found
