"""`ExplainedVectors`: vectors to explain, with the data that contributions are computed from."""

from dataclasses import dataclass

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
        selected: (n,) int64, row numbers to explain, or None for all rows.
        context_vectors: those that were stored with vectors of mode spectral, or None to compute them from all counts.
    """

    vectors: VectorTable
    provenance: Provenance
    counts: MergedCounts
    selected: np.ndarray | None
    context_vectors: ContextVectors | None
