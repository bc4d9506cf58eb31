"""The leading eigenvectors of a symmetric matrix that can only be multiplied, by the block Krylov method.

Musco & Musco 2015, "Randomized block Krylov methods for stronger and faster approximate singular value
decomposition", with the code's own product as the start in place of random numbers. What each product gives is kept
beside what went in, and the best combination of all of them is chosen in the end: as close as subspace iteration gets
with blocks three times as wide. The sums over rows run over fixed blocks, in their order, on one thread.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

# Rows that are summed at once, see `bitcipher.embedding.refinement`.
BLOCK_ROWS = 4096

# What columns hold of a direction, squared, beside the most that they hold of any, below which it is a rounding error
# of float32; and likewise of eigenvalues.
LEAST_SHARE = 1e-10
LEAST_EIGENVALUE = 1e-6


class Eigenvectors(NamedTuple):
    """The leading eigenvectors of A, largest eigenvalue first.

    Attributes:
        directions: (N, d) float32, orthonormal: U.
        images: (N, d) float32, A·U divided by the eigenvalues, which is U once more where the method has converged.
        values: (d,) float64, the eigenvalues, descending.
    """

    directions: np.ndarray
    images: np.ndarray
    values: np.ndarray


@threadpool_limits.wrap(limits=1)
def leading_eigenvectors(
    multiply: Callable[[np.ndarray], np.ndarray], start: np.ndarray, products: int, dimensions: int
) -> Eigenvectors:
    """The best approximation from start and its first images under A.

    Args:
        multiply: A·Q for (N, b) float32 Q; A symmetric with eigenvalues of at least 0.
        start: (N, b) float32.
        products: how often to multiply.
        dimensions: how many eigenvectors are wanted; fewer come back where the space has fewer.
    """
    block = orthonormal(start)
    inputs = np.empty((len(start), 0), np.float32)
    outputs = inputs
    while block.shape[1] and products:
        image = multiply(block)
        inputs, outputs = np.hstack([inputs, block]), np.hstack([outputs, image])
        products -= 1
        block = _new_directions(image, inputs) if products else block
    if not inputs.shape[1]:
        return Eigenvectors(inputs, outputs, np.empty(0))
    small = gram(inputs, outputs)
    values, turns = np.linalg.eigh((small + small.T) / 2)
    kept = np.argsort(-values, kind="stable")[:dimensions]
    kept = kept[values[kept] > LEAST_EIGENVALUE * values.max(initial=0)]
    values, turns = values[kept], turns[:, kept]
    # A direction's sign is no property of the matrix: the largest part of each turn is made positive.
    turns *= np.sign(turns[np.abs(turns).argmax(axis=0), np.arange(len(kept))])
    return Eigenvectors(combine(inputs, turns), combine(outputs, turns / values), values)


def orthonormal(columns: np.ndarray, largest: float = 0) -> np.ndarray:
    """An orthonormal basis of what (N, b) float32 columns span, without directions that are rounding errors.

    Args:
        columns: what is left of others.
        largest: the squared length of the others' longest direction, which rounding errors are in proportion to.
    """
    for _ in range(2):  # the second round takes away what rounding left in the first
        values, turns = np.linalg.eigh(gram(columns, columns))
        kept = values > LEAST_SHARE * values.max(initial=largest)
        columns = combine(columns, turns[:, kept] / np.sqrt(values[kept]))
        largest = 0
    return columns


def _new_directions(image: np.ndarray, known: np.ndarray) -> np.ndarray:
    """An orthonormal basis of what an image has beyond the directions known."""
    largest = np.linalg.eigvalsh(gram(image, image)).max(initial=0)
    for _ in range(2):
        image = orthonormal(image - combine(known, gram(known, image)), largest)
        largest = 0
    return image


def gram(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """LeftᵀRight, (l, r) float64, of (N, l) and (N, r) float32, summed in a fixed order."""
    total = np.zeros((left.shape[1], right.shape[1]))
    for start in range(0, len(left), BLOCK_ROWS):
        rows = slice(start, start + BLOCK_ROWS)
        total += left[rows].T @ right[rows]
    return total


def combine(columns: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """Columns times a (b, d) matrix, (N, d) float32."""
    turns = turns.astype(np.float32)
    result = np.empty((len(columns), turns.shape[1]), np.float32)
    for start in range(0, len(columns), BLOCK_ROWS):
        np.matmul(columns[start : start + BLOCK_ROWS], turns, out=result[start : start + BLOCK_ROWS])
    return result
