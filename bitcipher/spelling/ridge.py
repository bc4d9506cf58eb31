"""Ridge regression from the n-grams of words to their vectors, by preconditioned conjugate gradients.

The vector of n-gram g is row g of the matrix W that minimizes

    Σ_w weight_w · |vector_w - Σ_(g in w) W_g|² + penalty · |W|²

Each column of W is a problem of its own, and all have the same matrix. Columns are therefore solved in blocks, one
thread per block, and the bytes do not depend on the number of threads.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from bitcipher.spelling.incidence import Incidence

# Columns per block: those of a cache line. Each thread holds nine tables of this width with a row per n-gram.
BLOCK_COLUMNS = 16

# Maximum number of threads, because their tables would be most of the memory of a driver with many cores.
MAX_THREADS = 2

# Number of steps. The vectors of words that were left out are predicted as well as with the exact solution from five
# steps on, because the diagonal is a good preconditioner (README.md).
STEPS = 6


def fit_ridge(
    incidence: Incidence, vectors: np.ndarray, weights: np.ndarray, penalty: float, threads: int = 1
) -> np.ndarray:
    """Return the vector of each n-gram, (g, d) float32.

    Args:
        incidence: n-grams of each word, (words, g).
        vectors: (words, d) float32.
        weights: (words,) float32, weight of each word.
        penalty: factor of the penalty.
        threads: number of threads, of which at most `MAX_THREADS` are used.
    """
    transposed = incidence.transpose()
    diagonal = transposed.multiply(weights[:, None]) + np.float32(penalty)
    result = np.zeros((incidence.columns, vectors.shape[1]), np.float32)

    def fit_block(start: int) -> None:
        columns = slice(start, start + BLOCK_COLUMNS)
        target = transposed.multiply(vectors[:, columns] * weights[:, None])

        def multiply(table: np.ndarray) -> np.ndarray:
            product = transposed.multiply(incidence.multiply(table) * weights[:, None])
            product += np.float32(penalty) * table
            return product

        result[:, columns] = _solve(multiply, target, diagonal)

    with ThreadPoolExecutor(min(threads, MAX_THREADS)) as pool:
        list(pool.map(fit_block, range(0, vectors.shape[1], BLOCK_COLUMNS)))
    return result


def _solve(multiply, target: np.ndarray, diagonal: np.ndarray) -> np.ndarray:
    """Return the approximate solution X of A · X = target, (g, b) float32.

    Args:
        multiply: multiplies the symmetric positive definite matrix A by a table.
        target: (g, b) float32, which is overwritten.
        diagonal: (g, 1) float32, the diagonal of A.
    """
    solution, residual = np.zeros_like(target), target
    direction = residual / diagonal
    product = _dot(residual, direction)
    for _ in range(STEPS):
        image = multiply(direction)
        step = _divide(product, _dot(direction, image))
        solution += step * direction
        residual -= step * image
        scaled = residual / diagonal
        previous, product = product, _dot(residual, scaled)
        direction *= _divide(product, previous)
        direction += scaled
    return solution


def _dot(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the dot product of each pair of columns, (b,) float64."""
    return np.einsum("ij,ij->j", one, other, dtype=np.float64)


def _divide(dividend: np.ndarray, divisor: np.ndarray) -> np.ndarray:
    """Return quotients, (b,) float32; 0 where the divisor is 0, since that column is solved."""
    return np.divide(dividend, divisor, out=np.zeros_like(dividend), where=divisor > 0).astype(np.float32)
