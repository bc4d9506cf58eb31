"""Dense reference implementation of the matrices that mode spectral factors."""

import numpy as np
import reference


def weight_matrix(counts, exponent):
    """Return the PPMI of a matrix of counts, discounted for small counts."""
    sums, contexts = counts.sum(axis=1, keepdims=True), counts.sum(axis=0, keepdims=True)
    with np.errstate(all="ignore"):
        shares = contexts**exponent / (contexts**exponent).sum()
        weights = np.maximum(0, np.log(counts / (sums * shares)))
    rarer = np.minimum(sums, contexts)
    # Rounded to float32 as in the implementation, since cancellation would show the difference.
    return (
        np.where(counts > 0, counts / (counts + 1) * rarer / (rarer + 1) * weights, 0).astype(np.float32).astype(float)
    )


def blocks(documents, words, window, context, summed=False, contexts=None):
    """Return {offset: (scale, matrix)}, with offset 0 for the window. Columns from `contexts` on are zeros."""
    matrices = reference.context_matrices(documents, words, window)
    found = {}
    if context != "window" and not summed:
        found = {offset: (1.0, weight_matrix(matrix, 0.75)) for offset, matrix in matrices.items()}
    if context != "positions":
        found[0] = (2.25 if context == "both" else 1.0, weight_matrix(sum(matrices.values()), 1))
    for _, matrix in found.values():
        matrix[:, contexts or len(words) :] = 0
    return found


def table(blocks, directions):
    """Return Σ scale · M · (Mᵀ · directions). The directions of the words that are no landmarks are zeros."""
    landmarks = len(directions)
    return sum(scale * matrix @ (matrix[:landmarks].T @ directions.astype(float)) for scale, matrix in blocks.values())
