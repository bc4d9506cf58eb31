"""Leading eigenvectors of matrices that can only be multiplied, against NumPy's of the same matrices."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitcipher.embedding.spectral.block_krylov import gram, leading_eigenvectors, orthonormal


def matrix_of(values, seed):
    """A symmetric matrix with these eigenvalues."""
    turns, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values), len(values))))
    return (turns * np.array(values)) @ turns.T


def find(matrix, columns, products, dimensions, seed=0):
    start = np.random.default_rng(seed).normal(size=(len(matrix), columns)).astype(np.float32)
    return leading_eigenvectors(lambda table: (matrix @ table).astype(np.float32), start, products, dimensions)


@given(st.integers(0, 99), st.integers(2, 120), st.integers(1, 12))
@settings(max_examples=40)
def test_values_and_directions_are_those_of_numpy(seed, size, dimensions):
    matrix = matrix_of(0.8 ** np.arange(size), seed)
    found = find(matrix, 16, 7, dimensions)
    count = min(dimensions, size)
    expected, directions = np.linalg.eigh(matrix)
    np.testing.assert_allclose(found.values, expected[::-1][:count], rtol=1e-3)
    cosines = np.abs(np.sum(found.directions * directions[:, ::-1][:, :count], axis=0))
    np.testing.assert_allclose(cosines, 1, atol=1e-3)
    np.testing.assert_allclose(found.images, found.directions, atol=1e-2)
    np.testing.assert_allclose(gram(found.directions, found.directions), np.eye(count), atol=1e-5)


@pytest.mark.parametrize("rank", [0, 1, 5])
def test_no_more_directions_are_found_than_there_are(rank):
    values = np.zeros(40)
    values[:rank] = np.arange(rank, 0, -1)
    matrix = matrix_of(values, 3)
    start = (matrix @ np.random.default_rng(0).normal(size=(40, 32))).astype(np.float32)
    found = leading_eigenvectors(lambda table: (matrix @ table).astype(np.float32), start, 7, 20)
    assert found.directions.shape == found.images.shape == (40, rank)
    np.testing.assert_allclose(found.values, values[:rank], rtol=1e-4)


def test_signs_and_bytes_are_the_same_every_time():
    matrix = matrix_of(0.9 ** np.arange(50), 1)
    first, second = (find(matrix, 16, 5, 10) for _ in range(2))
    assert first.directions.tobytes() == second.directions.tobytes()


def test_an_orthonormal_basis_has_no_direction_of_rounding_errors():
    columns = np.random.default_rng(0).normal(size=(30, 3)).astype(np.float32)
    basis = orthonormal(np.hstack([columns, columns @ np.ones((3, 2), np.float32)]))
    np.testing.assert_allclose(basis.T @ basis, np.eye(3), atol=1e-6)
