"""The counts of a corpus over its vocabulary, from which any table is built."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.pairs import PairBlock
from bitcipher.vocabulary import Vocabulary


class Part(NamedTuple):
    """A piece of the counts.

    Attributes:
        block: rows in any order, with numbers of their own.
        ranks: (V,) int32, the rank in the vocabulary of each number, that of `<oov>` for words outside.
        sign: 1, or -1 for counts that are subtracted.
    """

    block: PairBlock
    ranks: np.ndarray
    sign: int = 1


@dataclass(frozen=True)
class MergedCounts:
    """What `CipherEmbedding` works on. Both walks may be taken as often as wanted.

    Attributes:
        vocabulary: the words.
        context_window: which pairs were counted.
        rows: rows(radius) walks the rows by rank, each once, with all its pairs, in the order of their left
            words' bytes and then of offsets, `<oov>` last. Rows of offsets beyond the radius may be among them.
        parts: parts(radius) walks pieces whose sum is the counts, in any order and number; likewise.
    """

    vocabulary: Vocabulary
    context_window: ContextWindow
    rows: Callable[[int], Iterator[PairBlock]]
    parts: Callable[[int], Iterator[Part]]

    @classmethod
    def from_rows(
        cls, vocabulary: Vocabulary, context_window: ContextWindow, blocks: Sequence[PairBlock]
    ) -> "MergedCounts":
        """Counts that are in memory and merged already: rows by rank, in the order that `rows` promises."""
        ranks = np.arange(len(vocabulary), dtype=np.int32)
        return cls(
            vocabulary,
            context_window,
            rows=lambda window: iter(blocks),
            parts=lambda window: (Part(block, ranks) for block in blocks),
        )
