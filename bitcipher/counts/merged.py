"""The merged counts of a corpus: its vocabulary and pairs by rank, from which any table is built."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bitcipher.counts.pairs import PairBlock
from bitcipher.counts.window import Window
from bitcipher.vocabulary import Vocabulary


@dataclass(frozen=True)
class MergedCounts:
    """What `CipherEmbedding` works on.

    Attributes:
        vocabulary: the words.
        window: which pairs were counted.
        blocks: blocks(radius) walks the rows of offsets up to a radius, as often as it is called, always in the
            same order: offset by offset, rows in the order of their left words' bytes, `<oov>` last.
    """

    vocabulary: Vocabulary
    window: Window
    blocks: Callable[[int], Iterator[PairBlock]]
