"""Leading eigenvectors by block Krylov, compared with NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitcipher.embedding.spectral.block_krylov import gram, leading_eigenvectors, orthonormal


def matrix_of(values, seed):
    """Return a symmetric matrix with these eigenvalues."""
    rotation, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values), len(values))))
    return (rotation * np.array(values)) @ rotation.T


def find(matrix, columns, products, vector_size, seed=0):
    start = np.random.default_rng(seed).normal(size=(len(matrix), columns)).astype(np.float32)
    return leading_eigenvectors(lambda table: (matrix @ table).astype(np.float32), start, products, vector_size)


@given(st.integers(0, 99), st.integers(2, 120), st.integers(1, 12))
@settings(max_examples=40)
def test_eigenvectors_match_numpy(seed, size, vector_size):
    matrix = matrix_of(0.8 ** np.arange(size), seed)
    found = find(matrix, 16, 7, vector_size)
    count = min(vector_size, size)
    expected, directions = np.linalg.eigh(matrix)
    np.testing.assert_allclose(found.values, expected[::-1][:count], rtol=1e-3)
    cosines = np.abs(np.sum(found.directions * directions[:, ::-1][:, :count], axis=0))
    np.testing.assert_allclose(cosines, 1, atol=1e-3)
    np.testing.assert_allclose(found.images, found.directions, atol=1e-2)
    np.testing.assert_allclose(gram(found.directions, found.directions), np.eye(count), atol=1e-5)


@pytest.mark.parametrize("rank", [0, 1, 5])
def test_number_of_directions_is_at_most_the_rank(rank):
    values = np.zeros(40)
    values[:rank] = np.arange(rank, 0, -1)
    matrix = matrix_of(values, 3)
    start = (matrix @ np.random.default_rng(0).normal(size=(40, 32))).astype(np.float32)
    found = leading_eigenvectors(lambda table: (matrix @ table).astype(np.float32), start, 7, 20)
    assert found.directions.shape == found.images.shape == (40, rank)
    np.testing.assert_allclose(found.values, values[:rank], rtol=1e-4)


def test_results_are_deterministic():
    matrix = matrix_of(0.9 ** np.arange(50), 1)
    first, second = (find(matrix, 16, 5, 10) for _ in range(2))
    assert first.directions.tobytes() == second.directions.tobytes()


def test_orthonormal_basis_drops_dependent_columns():
    columns = np.random.default_rng(0).normal(size=(30, 3)).astype(np.float32)
    basis = orthonormal(np.hstack([columns, columns @ np.ones((3, 2), np.float32)]))
    np.testing.assert_allclose(basis.T @ basis, np.eye(3), atol=1e-6)
