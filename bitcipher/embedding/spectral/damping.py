"""Damping what frequent words have in common.

A few directions tell how frequent a word is and how general its use, more than what it means. Mu & Viswanath 2018
("All-but-the-top: simple and effective postprocessing for word representations") take the main directions of all words
away; those of the frequent words are a better choice, and what is left of them keeps what they know of syntax
(bitcipher/evaluation/README.md).
"""

import numpy as np
from threadpoolctl import threadpool_limits

from bitcipher.embedding.spectral.block_krylov import gram

# The most frequent words, among which the directions are found.
COMMON_WORDS = 10_000

# One direction for so many dimensions, and what is left of it.
DIMENSIONS_OF_COMMON = 28
COMMON_SCALE = 0.3


@threadpool_limits.wrap(limits=1)
def damping(table: np.ndarray) -> np.ndarray:
    """The symmetric matrix that damps the common directions: (d, d) float32, for (N, d) float32 by rank."""
    common = table[:COMMON_WORDS]
    lengths = np.linalg.norm(common, axis=1, keepdims=True)
    units = np.divide(common, lengths, out=np.zeros_like(common), where=lengths > 0)
    _, directions = np.linalg.eigh(gram(units, units))
    dimensions = table.shape[1]
    main = directions[:, dimensions - dimensions // DIMENSIONS_OF_COMMON :]
    return (np.eye(dimensions) - (1 - COMMON_SCALE) * main @ main.T).astype(np.float32)
