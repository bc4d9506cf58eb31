"""Damping of the directions that frequent words share.

A few directions encode how frequent a word is and how general its use, rather than its meaning. Mu & Viswanath (2018),
"All-but-the-top: simple and effective postprocessing for word representations", remove the main directions of all
words. Here, the main directions of the frequent words are scaled down instead, which gives better similarities and
preserves syntactic information (measurements in docs/quality.md).
"""

import numpy as np
from threadpoolctl import threadpool_limits

from bitcipher.embedding.spectral.block_krylov import gram

# Number of the most frequent words whose directions are damped.
COMMON_WORDS = 10_000

# One direction is damped for every 28 dimensions of the vectors.
DIMENSIONS_PER_DIRECTION = 28

# Factor that damped directions are multiplied by.
COMMON_SCALE = 0.3


@threadpool_limits.wrap(limits=1)
def damping_matrix(table: np.ndarray) -> np.ndarray:
    """Return the symmetric matrix that damps the main directions of the most frequent words, (d, d) float32.

    Args:
        table: (N, d) float32, vectors in order of rank.
    """
    common = table[:COMMON_WORDS]
    lengths = np.linalg.norm(common, axis=1, keepdims=True)
    units = np.divide(common, lengths, out=np.zeros_like(common), where=lengths > 0)
    _, directions = np.linalg.eigh(gram(units, units))
    vector_size = table.shape[1]
    main = directions[:, vector_size - vector_size // DIMENSIONS_PER_DIRECTION :]
    return (np.eye(vector_size) - (1 - COMMON_SCALE) * main @ main.T).astype(np.float32)
