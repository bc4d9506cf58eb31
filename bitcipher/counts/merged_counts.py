"""`MergedCounts`: the counts of a corpus over its vocabulary, the input of all embeddings."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bitcipher.count_limits import check_pair_counts
from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.pairs import PairBlock
from bitcipher.counts.selected_rows import SelectedRows, select_words
from bitcipher.vocabulary import Vocabulary


class PartialCounts(NamedTuple):
    """One term of the sum that gives the counts of a corpus.

    Attributes:
        block: rows in any order, with their own numbering of words.
        ranks: (V,) int32, the rank of each word number. Words outside the vocabulary have the rank of `<oov>`.
        sign: 1, or -1 for counts that are subtracted.
    """

    block: PairBlock
    ranks: np.ndarray
    sign: int = 1


@dataclass(frozen=True)
class MergedCounts:
    """Counts of a corpus. Its functions can be called any number of times.

    They take the largest offset that the caller needs. They can also return rows of larger offsets.

    Attributes:
        vocabulary: words of the corpus in order of rank, with their counts.
        context_window: the counted offsets.
        rows: `rows(window)` iterates over blocks of rows with words numbered by rank. Each row occurs once, with all
            its pairs, in the order of the left words' bytes and then of offsets, `<oov>` last.
        partials: `partials(window)` iterates over counts that add up to those of the corpus, in any order.
        selected: `selected(window, mask)` iterates over the pairs of the words of a mask, (N,) bool, numbered by rank,
            in any order. Several blocks can have the same pair, whose counts add up.
    """

    vocabulary: Vocabulary
    context_window: ContextWindow
    rows: Callable[[int], Iterator[PairBlock]]
    partials: Callable[[int], Iterator[PartialCounts]]
    selected: Callable[[int, np.ndarray], Iterator[SelectedRows]]

    @classmethod
    def from_rows(
        cls, vocabulary: Vocabulary, context_window: ContextWindow, blocks: Sequence[PairBlock]
    ) -> "MergedCounts":
        """Return the counts of blocks in memory, which must be as `rows` returns them.

        Raises:
            BitcipherError: if a count is negative or too large.
        """
        for block in blocks:
            check_pair_counts(block.count, "The counts of pairs")
        ranks = np.arange(len(vocabulary), dtype=np.int32)
        return cls(
            vocabulary,
            context_window,
            rows=lambda window: iter(blocks),
            partials=lambda window: (PartialCounts(block, ranks) for block in blocks),
            selected=lambda window, mask: (select_words(block, mask) for block in blocks),
        )
