"""The matrices that mode spectral factors, dense and block by block, straight from SPEC 1."""

import numpy as np
import reference


def weighed(counts, exponent):
    """PPMI of a matrix of counts, discounted where little was counted."""
    sums, contexts = counts.sum(axis=1, keepdims=True), counts.sum(axis=0, keepdims=True)
    with np.errstate(all="ignore"):
        shares = contexts**exponent / (contexts**exponent).sum()
        weights = np.maximum(0, np.log(counts / (sums * shares)))
    rarer = np.minimum(sums, contexts)
    # Rounded as they are kept, for what cancels out would show it.
    return (
        np.where(counts > 0, counts / (counts + 1) * rarer / (rarer + 1) * weights, 0).astype(np.float32).astype(float)
    )


def blocks(documents, words, window, context, summed=False):
    """{offset: (scale, matrix)}, offset 0 for the window."""
    matrices = reference.context_matrices(documents, words, window)
    found = {}
    if context != "window" and not summed:
        found = {offset: (1.0, weighed(matrix, 0.75)) for offset, matrix in matrices.items()}
    if context != "positions":
        found[0] = (2.25 if context == "both" else 1.0, weighed(sum(matrices.values()), 1))
    return found


def table(blocks, directions):
    """Σ scale · M · (Mᵀ · directions)."""
    return sum(scale * matrix @ (matrix.T @ directions.astype(float)) for scale, matrix in blocks.values())
