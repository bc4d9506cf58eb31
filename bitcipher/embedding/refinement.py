"""`Refinement`: whitening, centering and unit norm (Zhao & Williams 2023, *Bit Cipher*, section 4.2)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from bitcipher.embedding.row_blocks import ArrayRows, Measure, block_slices, sum_rows
from bitcipher.errors import BitcipherError


def column_sums(rows: np.ndarray) -> np.ndarray:
    """Return the sum of each column of a block of rows, and the number of its rows that are not zero, (d + 1,)."""
    return np.append(rows.sum(axis=0), np.count_nonzero(rows.any(axis=1)))


@dataclass(frozen=True)
class CenteredProducts:
    """Function that returns Σ (x - mean)(x - mean)ᵀ over the rows x of a block that are not zero, (d, d) float64."""

    mean: np.ndarray

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Return the sum over a block of rows, (n, d) float64."""
        centered = rows[rows.any(axis=1)] - self.mean
        return centered.T @ centered


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

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """What `fit` learned, by name."""
        return {"mean": self.mean_, "matrix": self.matrix_}

    @threadpool_limits.wrap(limits=1)
    def fit(self, table: np.ndarray) -> "Refinement":
        """Learn the mean and the matrix from a raw table in memory, (N, d) float64.

        Raises:
            BitcipherError: if fewer than two rows are non-zero.
        """
        return self.fit_sums(lambda measure: sum_rows(ArrayRows(table), measure))

    @threadpool_limits.wrap(limits=1)
    def fit_sums(self, sum_table: Callable[[Measure], np.ndarray]) -> "Refinement":
        """Learn the mean and the matrix from sums over the rows of a raw table, which is not in memory.

        Args:
            sum_table: returns the sum of a function over the blocks of the table, see `row_blocks.sum_rows`.

        Raises:
            BitcipherError: if fewer than two rows are non-zero.
        """
        sums = sum_table(column_sums)
        rows = int(sums[-1])
        if rows < 2:
            raise BitcipherError(f"Whitening needs at least 2 words with context, and there are {rows}: use more text.")
        self.mean_ = sums[:-1] / rows
        covariance = sum_table(CenteredProducts(self.mean_))
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
        for block in block_slices(len(table)):
            rows = table[block]
            white = (rows - self.mean_) @ self.matrix_
            sizes = _norms(white)
            white -= white.mean(axis=1, keepdims=True)
            norms = _norms(white)
            # After centering, a constant row consists of rounding errors, so it has no direction.
            has_direction = rows.any(axis=1) & (norms > 1e-9 * sizes)
            scales = np.divide(1, norms, out=np.zeros_like(norms), where=has_direction)
            vectors[block] = white * scales[:, None]
        return vectors

    def fit_transform(self, table: np.ndarray) -> np.ndarray:
        """Learn the mean and the matrix from a raw table, and return its refined vectors, (N, d) float32."""
        return self.fit(table).transform(table)


def _norms(rows: np.ndarray) -> np.ndarray:
    """Return the L2 norm of each row, without a temporary array of squares."""
    return np.sqrt(np.einsum("ij,ij->i", rows, rows))
