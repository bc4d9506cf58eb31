"""What stands around one word."""

from typing import NamedTuple

import numpy as np

from bitcipher.counts.pairs import PairBlock


class Row(NamedTuple):
    """The pairs of a word.

    Attributes:
        offsets: (n,) int64, where the contexts stand: -radius … -1, 1 … radius, or 0 for anywhere.
        contexts: (n,) int64, their ranks.
        counts: (n,) int64, how often.
    """

    offsets: np.ndarray
    contexts: np.ndarray
    counts: np.ndarray


class WordRows:
    """Rows that can be asked for by word.

    Args:
        block: merged rows, those of a word together, see `symmetric_counts`.
        words: N, those of the vocabulary.

    Attributes:
        block: as given.
        first_pairs: (rows + 1,) int64, where the pairs of each row start.
        first_rows, last_rows: (N,) int64, where the rows of each word start, and where they end.
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

    def __getitem__(self, rank: int) -> Row:
        """The row of a word; an empty one where nothing is known of it."""
        rows = slice(self.first_rows[rank], self.last_rows[rank])
        pairs = slice(self.first_pairs[rows.start], self.first_pairs[rows.stop])
        offsets = np.repeat(self.block.offset[rows].astype(np.int64), self.block.length[rows])
        return Row(offsets, self.block.right[pairs].astype(np.int64), self.block.count[pairs])
