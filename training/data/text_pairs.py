"""Pairs of a source text and a target text, and what two sets of pairs have in common."""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from pipelines.ingest.sources import Source
from training.data.table_rows import read_columns


class TextPair(NamedTuple):
    """A source text, and the target text that a model should generate from it."""

    source: str
    target: str


class PairOverlap(NamedTuple):
    """What test pairs have in common with training pairs."""

    pairs: int
    """Number of test pairs that are also training pairs."""
    sources: int
    """Number of test pairs whose source is also that of a training pair."""


def read_text_pairs(sources: Sequence[Source], source_column: str, target_column: str) -> list[TextPair]:
    """Return the pairs in tables, in order.

    Args:
        sources: files from `list_tables`.
        source_column: column of the source text (see `read_columns`).
        target_column: column of the target text.

    Raises:
        BitcipherError: as for `read_columns`.
    """
    columns = (source_column, target_column)
    return [TextPair(*values) for source in sources for values in read_columns(source, columns)]


def count_overlap(test: Iterable[TextPair], train: Collection[TextPair]) -> PairOverlap:
    """Return how many test pairs, and how many sources of them, are among the training pairs."""
    pairs, sources = set(train), {pair.source for pair in train}
    common = [(pair in pairs, pair.source in sources) for pair in test]
    return PairOverlap(sum(is_pair for is_pair, _ in common), sum(is_source for _, is_source in common))
