"""Vectors with the provenance of their counts."""

from typing import Any

import numpy as np

from bitcipher.counts import ContextWindow
from bitcipher.errors import BitcipherError
from bitcipher.vectors import CipherVectors
from bitcipher.vocabulary import Vocabulary
from pipelines.options import EmbeddingOptions


def check_summed(options: EmbeddingOptions, context_window: ContextWindow) -> None:
    """Check that the options match counts that were summed over offsets.

    Raises:
        BitcipherError: if they need the offsets.
    """
    conflict = options.conflict_with_summed()
    if context_window.summed and conflict:
        raise BitcipherError(conflict)


def table_vectors(
    vocabulary: Vocabulary,
    table: np.ndarray,
    learned: dict[str, np.ndarray],
    options: EmbeddingOptions,
    provenance: dict[str, Any],
) -> CipherVectors:
    """Return the vectors of a table.

    Args:
        vocabulary: words of the rows.
        table: (N, d) float32.
        learned: arrays that map the contexts of new words to vectors.
        options: options of the vectors.
        provenance: fields for the manifest of the vectors.
    """
    return CipherVectors(
        vocabulary.words,
        table,
        vocabulary.counts,
        vocabulary.passages,
        refinement=learned,
        manifest={**provenance, "total_passages": vocabulary.total_passages, "embedding": options.to_dict()},
    )
