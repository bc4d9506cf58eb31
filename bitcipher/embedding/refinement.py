"""`Refinement`: whitening, centering and unit norm (Zhao & Williams 2023, *Bit Cipher*, section 4.2)."""

import numpy as np
from threadpoolctl import threadpool_limits

from bitcipher.errors import BitcipherError

# Rows that are added up at once. Sums run over these blocks in order and on one thread, so any number of cores gives
# the same bytes.
BLOCK_ROWS = 4096


class Refinement:
    """ZCA whitening over words; then each vector is centered and scaled to unit L2 norm.

    Zero rows (words without context) are ignored and stay zero. Rows whose dimensions are all equal after whitening
    have no direction and become zero.

    Attributes:
        mean_: (d,) float64, mean of the rows that are not zero, learned by `fit`.
        matrix_: (d, d) float64, the symmetric whitening matrix, learned by `fit`. Directions without variance map to 0.
    """

    mean_: np.ndarray
    matrix_: np.ndarray

    @threadpool_limits.wrap(limits=1)
    def fit(self, table: np.ndarray) -> "Refinement":
        """Learn the mean and the matrix from a raw table, (N, d) float64.

        Raises:
            BitcipherError: if fewer than two rows are non-zero.
        """
        used = np.asarray(table.any(axis=1))
        rows = int(np.count_nonzero(used))
        if rows < 2:
            raise BitcipherError(f"Whitening needs at least 2 words with context, and there are {rows}: use more text.")
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
        # Variances up to `floor` are rounding errors: of the covariance matrix (first term, the tolerance of NumPy's
        # matrix_rank), or of the mean (second term). Whitening would amplify them to the size of a signal.
        eps = np.finfo(np.float64).eps
        floor = max(variances[-1] * len(variances) * eps, (rows * eps) ** 2 * (self.mean_ @ self.mean_))
        scales = np.zeros_like(variances)
        scales[variances > floor] = variances[variances > floor] ** -0.5
        self.matrix_ = (directions * scales) @ directions.T
        return self

    @threadpool_limits.wrap(limits=1)
    def transform(self, table: np.ndarray) -> np.ndarray:
        """Return the refined vectors of the rows of a raw table, (N, d) float32."""
        vectors = np.zeros(table.shape, np.float32)
        for start in range(0, len(table), BLOCK_ROWS):
            rows = table[start : start + BLOCK_ROWS]
            white = (rows - self.mean_) @ self.matrix_
            sizes = _norms(white)
            white -= white.mean(axis=1, keepdims=True)
            norms = _norms(white)
            # After centering, a constant row consists of rounding errors, so it has no direction.
            has_direction = rows.any(axis=1) & (norms > 1e-9 * sizes)
            scales = np.divide(1, norms, out=np.zeros_like(norms), where=has_direction)
            vectors[start : start + BLOCK_ROWS] = white * scales[:, None]
        return vectors

    def fit_transform(self, table: np.ndarray) -> np.ndarray:
        """Learn the mean and the matrix from a raw table, and return its refined vectors, (N, d) float32."""
        return self.fit(table).transform(table)


def _norms(rows: np.ndarray) -> np.ndarray:
    """Return the L2 norm of each row, without a temporary array of squares."""
    return np.sqrt(np.einsum("ij,ij->i", rows, rows))
