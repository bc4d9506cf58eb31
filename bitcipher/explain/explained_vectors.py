"""`ExplainedVectors`: the input of contributions in all modes."""

from dataclasses import dataclass

import numpy as np

from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.rows import Provenance
from bitcipher.table import VectorTable


@dataclass(frozen=True)
class ExplainedVectors:
    """Vectors to explain, and the counts that they were made from.

    Attributes:
        vectors: the vectors.
        provenance: how they were made.
        counts: the counts that they were made from.
        selected: row numbers to explain, or None for all.
    """

    vectors: VectorTable
    provenance: Provenance
    counts: MergedCounts
    selected: np.ndarray | None
