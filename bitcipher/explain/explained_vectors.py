"""`ExplainedVectors`: vectors to explain, with the data that contributions are computed from."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.rows.context_vectors import ContextVectors
from bitcipher.rows.provenance import Provenance
from bitcipher.table.vector_table import VectorTable


@dataclass(frozen=True)
class ExplainedVectors:
    """Vectors to explain, and the counts that they were made from.

    Attributes:
        vectors: the table with the vectors.
        provenance: how the vectors were made.
        counts: the counts that the vectors were made from.
        selected: (n,) int64, row numbers whose counts are read at once, or None to read those of a word when needed.
        context_vectors: those that were stored with vectors of mode spectral, or None to compute them from all counts.
    """

    vectors: VectorTable
    provenance: Provenance
    counts: MergedCounts
    selected: np.ndarray | None
    context_vectors: ContextVectors | None


Rows = TypeVar("Rows")


class LastRows(Generic[Rows]):
    """The rows of the last words that were needed, which are read again when one of them is missing.

    Args:
        read: function that reads the rows of words, given by row number.
        words: (n,) int64, row numbers of words whose rows are read at once, or None.
    """

    def __init__(self, read: Callable[[np.ndarray], Rows], words: np.ndarray | None):
        self._read = read
        self._last = None if words is None else (words, read(words))

    def of(self, words: np.ndarray) -> Rows:
        """Return the rows of some words, and perhaps of others, given by row number."""
        if self._last is None or not np.isin(words, self._last[0]).all():
            self._last = words, self._read(words)
        return self._last[1]
