"""Leading eigenvectors of a symmetric matrix by the block Krylov method.

The method needs only products with the matrix (Musco & Musco 2015, "Randomized block Krylov methods for stronger and
faster approximate singular value decomposition"). It starts from a given matrix instead of random numbers. The inputs
of all products are retained, and the eigenvectors are approximated in the space that they span. This is as accurate as
subspace iteration with three times as many columns. Sums over rows run over fixed ranges of rows, in order and on one
thread.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from bitcipher.embedding.row_blocks import block_slices

# Directions with a smaller squared length, relative to the longest one, are rounding errors of float32.
MIN_SQUARED_LENGTH = 1e-10

# Eigenvalues that are smaller, relative to the largest one, are rounding errors, too.
MIN_EIGENVALUE = 1e-6


class Eigenvectors(NamedTuple):
    """Leading eigenvectors of a symmetric matrix A, largest eigenvalue first.

    Attributes:
        directions: (N, d) float32, orthonormal: U.
        images: (N, d) float32, A·U divided by the eigenvalues; equal to U where the method has converged.
        values: (d,) float64, eigenvalues, descending.
    """

    directions: np.ndarray
    images: np.ndarray
    values: np.ndarray


@threadpool_limits.wrap(limits=1)
def leading_eigenvectors(
    multiply: Callable[[np.ndarray], np.ndarray], start: np.ndarray, products: int, vector_size: int
) -> Eigenvectors:
    """Return the leading eigenvectors of a matrix A, approximated in the Krylov space of `start`.

    Args:
        multiply: function that returns A·Q, (N, b) float32, for Q of the same shape. A is symmetric with non-negative
            eigenvalues.
        start: (N, b) float32.
        products: number of products with A.
        vector_size: maximum number of eigenvectors. Fewer are returned if the Krylov space has fewer dimensions.
    """
    block = orthonormal(start)
    inputs, outputs = (np.empty((len(start), products * block.shape[1]), np.float32) for _ in range(2))
    filled = 0
    while block.shape[1] and products:
        image = multiply(block)
        columns = slice(filled, filled + block.shape[1])
        inputs[:, columns], outputs[:, columns] = block, image
        filled += block.shape[1]
        products -= 1
        block = _new_directions(image, inputs[:, :filled]) if products else block
    inputs, outputs = inputs[:, :filled], outputs[:, :filled]
    if not filled:
        return Eigenvectors(inputs, outputs, np.empty(0))
    small = gram(inputs, outputs)
    values, rotation = np.linalg.eigh((small + small.T) / 2)
    selected = np.argsort(-values, kind="stable")[:vector_size]
    selected = selected[values[selected] > MIN_EIGENVALUE * values.max(initial=0)]
    values, rotation = values[selected], rotation[:, selected]
    # The sign of an eigenvector is arbitrary: the largest component of each column is made positive.
    rotation *= np.sign(rotation[np.abs(rotation).argmax(axis=0), np.arange(len(selected))])
    return Eigenvectors(combine(inputs, rotation), combine(outputs, rotation / values), values)


def orthonormal(columns: np.ndarray, largest: float = 0) -> np.ndarray:
    """Return an orthonormal basis of (N, b) float32 columns, without directions that are rounding errors.

    Args:
        columns: the columns.
        largest: if the columns are the result of a projection, the squared length of their longest direction before
            it. Rounding errors are proportional to this length.
    """
    for _ in range(2):  # the second round removes the rounding errors of the first
        values, rotation = np.linalg.eigh(gram(columns, columns))
        selected = values > MIN_SQUARED_LENGTH * values.max(initial=largest)
        columns = combine(columns, rotation[:, selected] / np.sqrt(values[selected]))
        largest = 0
    return columns


def _new_directions(image: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of the part of an image that is orthogonal to a basis."""
    largest = np.linalg.eigvalsh(gram(image, image)).max(initial=0)
    for _ in range(2):
        image = orthonormal(image - combine(basis, gram(basis, image)), largest)
        largest = 0
    return image


@threadpool_limits.wrap(limits=1)  # BLAS sums depend on the number of threads
def gram(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return leftᵀ·right, (l, r) float64, for `left` (N, l) and `right` (N, r) float32, summed in a fixed order."""
    total = np.zeros((left.shape[1], right.shape[1]))
    for rows in block_slices(len(left)):
        total += left[rows].T @ right[rows]
    return total


@threadpool_limits.wrap(limits=1)
def combine(columns: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return columns · weights, (N, d) float32, for `columns` (N, b) float32 and `weights` (b, d)."""
    weights = weights.astype(np.float32)
    result = np.empty((len(columns), weights.shape[1]), np.float32)
    for rows in block_slices(len(columns)):
        np.matmul(columns[rows], weights, out=result[rows])
    return result
