"""`SpectralRows`: weighted rows of mode spectral, with lookup by word."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.embedding.spectral.ppmi import Marginals, WeightedRows, offset_of, weight_rows
from bitcipher.rows.symmetric_counts import symmetric_counts

# Weighted pairs that are in memory at once, with about 100 bytes each while they are made.
PAIRS_AT_ONCE = 1 << 23


class WeightedPairs(NamedTuple):
    """Pairs of a word in one block of the weighted matrix (one offset, or the whole window).

    Attributes:
        columns: (n,) int32, columns of the context words.
        weights: (n,) float32, PPMI weights of the pairs.
    """

    columns: np.ndarray
    weights: np.ndarray


class SpectralRows:
    """Rows of the weighted matrix (see `bitcipher.embedding.spectral.ppmi`) with lookup by word.

    Args:
        rows: weighted rows of some words.
        columns: (N,) int32, the column of each word as a context word, or -1.

    Attributes:
        rows: the argument `rows`.
        row_of_rank: (N,) int64, index of each word in `rows`, or -1.
        rank_of_column: (C,) int64, rank of the word of each column, or -1.
    """

    def __init__(self, rows: WeightedRows, columns: np.ndarray):
        self.rows = rows
        self.row_of_rank = np.full(len(columns), -1)
        self.row_of_rank[rows.words] = np.arange(len(rows.words))
        self.rank_of_column = np.full(int(columns.max(initial=-1)) + 1, -1)
        ranks = np.flatnonzero(columns >= 0)
        self.rank_of_column[columns[ranks]] = ranks

    @classmethod
    def of_words(
        cls, counts: MergedCounts, window: int, columns: np.ndarray, marginals: Marginals, selected: np.ndarray
    ) -> "SpectralRows":
        """Weight the pairs of some words.

        Args:
            counts: counts of a corpus.
            window: the largest offset of a context word.
            columns: (N,) int32, the column of each word as a context word, or -1.
            marginals: number of pairs of each word of the vocabulary.
            selected: (N,) bool, the words whose rows are needed.
        """
        pairs = symmetric_counts(counts, window, selected)
        # Only the words of these pairs are numbered, because the terms of all words take much time and memory.
        used = np.zeros(len(columns), bool)
        used[pairs.left] = used[pairs.right] = True
        words = np.flatnonzero(used)
        numbers = np.cumsum(used, dtype=np.int32) - np.int32(1)
        pairs = pairs._replace(left=numbers[pairs.left], right=numbers[pairs.right])
        rows = weight_rows(pairs, marginals.take(words), columns[words])
        return cls(rows._replace(words=words[rows.words].astype(np.int32)), columns)

    def offset_of(self, block: int) -> int:
        """Return the offset of a block, 0 for the window block."""
        return offset_of(int(block), len(self.rows.starts))

    def pairs(self, rank: int, block: int) -> WeightedPairs:
        """Return the weighted pairs of a word in a block, possibly none."""
        row = self.row_of_rank[rank]
        pairs = slice(0, 0) if row < 0 else slice(*self.rows.starts[block, row : row + 2])
        return WeightedPairs(self.rows.contexts[pairs], self.rows.weights[pairs])


def iter_rows(
    counts: MergedCounts, window: int, columns: np.ndarray, marginals: Marginals, words: np.ndarray
) -> Iterator[tuple[slice, SpectralRows]]:
    """Yield slices of words, and the weighted rows of these words.

    The pairs of as many words as fit in memory are read at once, while those of the words before are used.

    Args:
        counts: counts of a corpus.
        window: the largest offset of a context word.
        columns: (N,) int32, the column of each word as a context word, or -1.
        marginals: number of pairs of each word of the vocabulary.
        words: (n,) int64, ranks of the words.
    """
    # A word has at most as many distinct pairs as pairs, and as there are pairs of a word.
    most = np.minimum(marginals.sums[-1, words], marginals.sums.size)
    share = 1.0

    def read(start: int) -> tuple[slice, SpectralRows]:
        nonlocal share
        sizes = np.cumsum(most[start:])
        stop = min(len(words), start + max(1, int(np.searchsorted(sizes, PAIRS_AT_ONCE / share))))
        selected = np.zeros(len(columns), bool)
        selected[words[start:stop]] = True
        found = SpectralRows.of_words(counts, window, columns, marginals, selected)
        share = max(1, len(found.rows.contexts)) / max(1, int(sizes[stop - start - 1]))
        return slice(start, stop), found

    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read, 0) if len(words) else None
        while reading is not None:
            part, found = reading.result()
            reading = pool.submit(read, part.stop) if part.stop < len(words) else None
            yield part, found
