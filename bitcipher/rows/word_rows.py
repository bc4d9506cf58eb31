"""`WordRows`: context counts of single words."""

from typing import NamedTuple

import numpy as np

from bitcipher.counts.pairs import PairBlock


class ContextCounts(NamedTuple):
    """Context counts of a word, one entry per offset and context word.

    Attributes:
        offsets: (n,) int64, offsets of the context words: -window … -1, 1 … window, or 0 if offsets are added up.
        contexts: (n,) int64, ranks of the context words.
        counts: (n,) int64, number of times that the context word occurs at the offset.
    """

    offsets: np.ndarray
    contexts: np.ndarray
    counts: np.ndarray


class WordRows:
    """Merged rows with lookup by word.

    Args:
        block: merged rows. The rows of a word are adjacent, see `symmetric_counts`.
        words: number of words N of the vocabulary.

    Attributes:
        block: the argument `block`.
        first_pairs: (rows + 1,) int64, the start of each row's pairs.
        first_rows, last_rows: (N,) int64, start and stop of each word's rows.
    """

    def __init__(self, block: PairBlock, words: int):
        self.block = block
        self.first_pairs = np.concatenate([np.zeros(1, np.int64), np.cumsum(block.length)])
        self.first_rows, self.last_rows = np.zeros((2, words), np.int64)
        changes = np.flatnonzero(np.diff(block.left)) + 1
        if len(block.left):
            firsts = np.concatenate([np.zeros(1, np.int64), changes])
            self.first_rows[block.left[firsts]] = firsts
            self.last_rows[block.left[firsts]] = np.append(changes, len(block.left))

    def __getitem__(self, rank: int) -> ContextCounts:
        """Return the context counts of a word, possibly empty."""
        rows = slice(self.first_rows[rank], self.last_rows[rank])
        pairs = slice(self.first_pairs[rows.start], self.first_pairs[rows.stop])
        offsets = np.repeat(self.block.offset[rows].astype(np.int64), self.block.length[rows])
        return ContextCounts(offsets, self.block.right[pairs].astype(np.int64), self.block.count[pairs])
