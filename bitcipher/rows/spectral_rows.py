"""Weighed rows of some words or of all, as mode spectral factors them."""

from typing import NamedTuple

import numpy as np

from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.embedding.spectral import Marginals, add_up, weigh
from bitcipher.rows.symmetric_counts import chosen_marginals, symmetric_counts


class WeightedPairs(NamedTuple):
    """The weights of a word in one block.

    Attributes:
        contexts: (n,) int32, ranks.
        weights: (n,) float32.
    """

    contexts: np.ndarray
    weights: np.ndarray


class SpectralRows:
    """Weighed rows that can be asked for by word.

    Args:
        counts: of a corpus.
        window: the largest offset that is context.
        chosen: (N,) bool, whose rows are wanted; those of all words if not given.

    Attributes:
        rows: the weights.
        marginals: those of all words.
        places: (N,) int64, where each word is among the rows; -1 if it is not.
    """

    def __init__(self, counts: MergedCounts, window: int, chosen: np.ndarray | None = None):
        words = len(counts.vocabulary)
        both = symmetric_counts(counts, window, chosen)
        self.marginals: Marginals = (
            add_up([both], window, counts.context_window.summed, words)
            if chosen is None
            else chosen_marginals(counts, window)
        )
        self.rows = weigh(both, self.marginals)
        self.places = np.full(words, -1)
        self.places[self.rows.words] = np.arange(len(self.rows.words))

    @property
    def blocks(self) -> int:
        """Offsets, and the window."""
        return len(self.rows.starts)

    def offset_of(self, block: int) -> int:
        """The offset of a block; 0 for the window."""
        window = (self.blocks - 1) // 2
        return 0 if block == self.blocks - 1 else int(block) - window + int(block >= window)

    def of(self, rank: int, block: int) -> WeightedPairs:
        """The weights of a word in a block; none where nothing is known of it."""
        place = self.places[rank]
        pairs = slice(0, 0) if place < 0 else slice(*self.rows.starts[block, place : place + 2])
        return WeightedPairs(self.rows.contexts[pairs], self.rows.weights[pairs])

    def told(self, block: int, table: np.ndarray) -> np.ndarray:
        """What these words tell as contexts of a block, (n, d): its transpose times a table, (N, d)."""
        result = np.zeros((len(self.rows.words), table.shape[1]), table.dtype)
        self.rows.add_transposed(block, 1, table, result)
        return result
