"""Refinement: whitening, centering, unit norm (papers/bit-cipher.txt, section 4.2; SPEC 1)."""

import numpy as np
from threadpoolctl import threadpool_limits

from bitcipher.errors import BitcipherError

# Sums over rows run over fixed blocks, in their order, on one thread: so they give the same bytes on any number
# of cores.
BLOCK_ROWS = 4096


class Refinement:
    """ZCA whitening over words, then each vector centered and scaled to unit L2 norm.

    Rows of zeros (words without context) take no part and stay zero; so do rows that whitening and centering make
    constant, which have no direction.

    Attributes:
        mean_: (d,) float64, learnt by `fit`.
        matrix_: (d, d) float64, the symmetric whitening matrix; directions without variance are mapped to 0.
    """

    mean_: np.ndarray
    matrix_: np.ndarray

    @threadpool_limits.wrap(limits=1)
    def fit(self, table: np.ndarray) -> "Refinement":
        """Learn mean and matrix from a raw table, (N, d) float64.

        Raises:
            BitcipherError: if fewer than two rows hold anything.
        """
        used = table.any(axis=1)
        rows = int(np.count_nonzero(used))
        if rows < 2:
            raise BitcipherError(
                f"Whitening needs at least 2 words with contexts, and there are {rows}: give more text."
            )
        starts = range(0, len(table), BLOCK_ROWS)
        total = np.zeros(table.shape[1])
        for start in starts:
            total += table[start : start + BLOCK_ROWS].sum(axis=0)
        self.mean_ = total / rows
        covariance = np.zeros((table.shape[1], table.shape[1]))
        for start in starts:
            centered = table[start : start + BLOCK_ROWS][used[start : start + BLOCK_ROWS]] - self.mean_
            covariance += centered.T @ centered
        variances, directions = np.linalg.eigh(covariance / rows)
        # What is below is rounding, of the matrix (as in numpy's matrix_rank) or of the mean, and would be blown
        # up to the size of a signal.
        eps = np.finfo(np.float64).eps
        floor = max(variances[-1] * len(variances) * eps, (rows * eps) ** 2 * (self.mean_ @ self.mean_))
        scales = np.zeros_like(variances)
        scales[variances > floor] = variances[variances > floor] ** -0.5
        self.matrix_ = (directions * scales) @ directions.T
        return self

    @threadpool_limits.wrap(limits=1)
    def transform(self, table: np.ndarray) -> np.ndarray:
        """Refined vectors, (N, d) float32, of the rows of a raw table."""
        vectors = np.zeros(table.shape, np.float32)
        for start in range(0, len(table), BLOCK_ROWS):
            rows = table[start : start + BLOCK_ROWS]
            white = (rows - self.mean_) @ self.matrix_
            sizes = _norms(white)
            white -= white.mean(axis=1, keepdims=True)
            norms = _norms(white)
            # A row that was constant is centered to rounding errors, which have no direction.
            kept = rows.any(axis=1) & (norms > 1e-9 * sizes)
            scales = np.divide(1, norms, out=np.zeros_like(norms), where=kept)
            vectors[start : start + BLOCK_ROWS] = white * scales[:, None]
        return vectors

    def fit_transform(self, table: np.ndarray) -> np.ndarray:
        """`fit`, then `transform`, of the same table."""
        return self.fit(table).transform(table)


def _norms(rows: np.ndarray) -> np.ndarray:
    """The L2 norm of each row, without an array of squares on the way."""
    return np.sqrt(np.einsum("ij,ij->i", rows, rows))
