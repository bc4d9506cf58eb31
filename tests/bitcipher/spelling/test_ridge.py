"""Ridge regression against dense linear algebra."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitcipher.spelling import ridge
from bitcipher.spelling.incidence import NgramIndex, find_incidence
from bitcipher.spelling.ngrams import list_ngrams
from bitcipher.spelling.ridge import fit_ridge

words = st.lists(st.text("abc", max_size=5), min_size=1, max_size=12)


def problem(words, seed=0, columns=3):
    """Return the incidence of words and their n-grams, random vectors, and random weights."""
    random = np.random.default_rng(seed)
    ngrams = list_ngrams(pa.array(words, pa.large_string()), (2, 3))
    incidence = find_incidence(ngrams, NgramIndex.of_hashes(np.unique(ngrams.hashes)[::2]))
    vectors = random.normal(size=(len(words), columns)).astype(np.float32)
    return incidence, vectors, random.random(len(words)).astype(np.float32)


def dense(incidence):
    matrix = np.zeros((len(incidence.starts) - 1, incidence.columns))
    for row in range(len(matrix)):
        matrix[row, incidence.indices[incidence.starts[row] : incidence.starts[row + 1]]] = 1
    return matrix


@given(words)
@settings(deadline=None)
def test_products_match_dense_matrices(words):
    incidence, vectors, _ = problem(words)
    matrix = dense(incidence)
    np.testing.assert_array_equal(dense(incidence.transpose()), matrix.T)
    table = np.random.default_rng(1).normal(size=(incidence.columns, 5)).astype(np.float32)
    np.testing.assert_allclose(incidence.multiply(table), matrix @ table, atol=1e-5)
    np.testing.assert_allclose(incidence.transpose().multiply(vectors), matrix.T @ vectors, atol=1e-5)


@given(words, st.floats(0.1, 20))
@settings(deadline=None)
def test_many_steps_solve_the_normal_equations(words, penalty):
    incidence, vectors, weights = problem(words)
    matrix = dense(incidence)
    normal = matrix.T @ (weights[:, None] * matrix) + penalty * np.eye(incidence.columns)
    expected = np.linalg.solve(normal, matrix.T @ (weights[:, None] * vectors))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ridge, "STEPS", 60)
        np.testing.assert_allclose(fit_ridge(incidence, vectors, weights, penalty), expected, atol=1e-4)


def test_threads_do_not_change_the_bytes():
    words = [f"{first}{second}{third}" for first in "abcde" for second in "xyz" for third in ("ing", "ed", "er")]
    problems = problem(words, columns=100)
    alone = fit_ridge(*problems, 3.0)
    assert fit_ridge(*problems, 3.0, threads=3).tobytes() == alone.tobytes()


def test_columns_that_are_solved_stay_finite():
    incidence, vectors, weights = problem(["ab", "abc"])
    assert not fit_ridge(incidence, np.zeros_like(vectors), weights, 1.0).any()
    assert np.isfinite(fit_ridge(incidence, vectors, weights, 1.0)).all()
