import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitcipher import BitcipherError, Refinement
from bitcipher.embedding import row_blocks


def table_of(rows, columns, rank=None, seed=0):
    """Return a table of a given rank with a mean far from 0 and directions of very different variance."""
    random = np.random.default_rng(seed)
    mixing = random.normal(size=(rank or columns, columns)) * np.logspace(0, -3, rank or columns)[:, None]
    return random.normal(size=(rows, rank or columns)) @ mixing + random.normal(size=columns) * 3


@pytest.mark.parametrize(("rows", "columns"), [(500, 7), (150, 49), (5_000, 3)])
def test_whitened_rows_have_unit_covariance(rows, columns):
    table = table_of(rows, columns)
    refinement = Refinement().fit(table)
    white = (table - refinement.mean_) @ refinement.matrix_
    np.testing.assert_allclose(white.T @ white / rows, np.eye(columns), atol=1e-6)
    np.testing.assert_allclose(white.mean(axis=0), 0, atol=1e-8)


@pytest.mark.parametrize(("rows", "columns", "rank"), [(300, 8, 5), (300, 8, 1), (6, 40, 6), (2, 10, 2)])
def test_covariance_of_a_low_rank_table_is_a_projection(rows, columns, rank):
    table = table_of(rows, columns, rank)
    refinement = Refinement().fit(table)
    white = (table - refinement.mean_) @ refinement.matrix_
    covariance = white.T @ white / rows
    np.testing.assert_allclose(covariance @ covariance, covariance, atol=1e-6)
    assert np.trace(covariance) == pytest.approx(min(rank, rows - 1), abs=1e-5)
    # Directions without variance are mapped to 0 and not amplified.
    unused = np.linalg.svd(table - table.mean(axis=0))[2][min(rank, rows - 1) :]
    np.testing.assert_allclose(unused @ refinement.matrix_, 0, atol=1e-5)


def test_matrix_is_symmetric_and_positive():
    # ZCA is the only whitening with a symmetric positive matrix. It changes the vectors least.
    refinement = Refinement().fit(table_of(400, 6))
    np.testing.assert_allclose(refinement.matrix_, refinement.matrix_.T, rtol=1e-9)
    assert (np.linalg.eigvalsh(refinement.matrix_) > 0).all()


def test_vectors_are_whitened_centered_rows_of_unit_length():
    table = table_of(300, 9)
    refinement = Refinement()
    vectors = refinement.fit_transform(table)
    assert vectors.dtype == np.float32
    assert vectors.shape == table.shape
    white = (table - table.mean(axis=0)) @ refinement.matrix_
    white -= white.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(vectors, white / np.linalg.norm(white, axis=1, keepdims=True), atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(vectors.mean(axis=1), 0, atol=1e-6)


def test_zero_rows_are_ignored_and_stay_zero():
    table = table_of(200, 5)
    with_zeros = np.insert(table, [0, 50, 50, 200], 0, axis=0)
    refinement, other = Refinement().fit(table), Refinement().fit(with_zeros)
    np.testing.assert_allclose(other.mean_, refinement.mean_, rtol=1e-12)
    np.testing.assert_allclose(other.matrix_, refinement.matrix_, rtol=1e-9)
    vectors = other.transform(with_zeros)
    assert not vectors[[0, 51, 52, 203]].any()
    np.testing.assert_allclose(np.delete(vectors, [0, 51, 52, 203], axis=0), refinement.transform(table), atol=1e-6)


@given(
    st.integers(2, 12),
    st.integers(1, 8),
    st.integers(0, 2**32),
    st.sampled_from([1e-12, 1e-3, 1.0, 1e6]),
    st.integers(1, 4),
)
@settings(max_examples=150, deadline=None)
def test_any_table_gives_unit_vectors_or_zeros(rows, columns, seed, scale, values):
    # Small integers give repeated rows, equal columns and all kinds of rank deficiency.
    table = np.random.default_rng(seed).integers(-values, values + 1, (rows, columns)) * scale
    table[:2, 0] = scale  # at least two rows are non-zero
    refinement = Refinement()
    vectors = refinement.fit_transform(table)
    assert np.isfinite(refinement.matrix_).all()
    assert np.isfinite(vectors).all()
    norms = np.linalg.norm(vectors, axis=1)
    assert (np.isclose(norms, 1, atol=1e-6) | (norms == 0)).all()
    assert not vectors[~table.any(axis=1)].any()


def test_equal_rows_have_no_direction():
    # The mean is rounded, so all rows differ from it by the same small vector.
    row = np.array([0.1, 0.2, 0.3, 0.7])
    assert not Refinement().fit_transform(np.tile(row, (3, 1))).any()


def test_equal_rows_of_logs_have_no_direction():
    row = np.log(np.random.default_rng(1).dirichlet(np.ones(25)))
    assert not Refinement().fit_transform(np.tile(row, (1_000, 1))).any()


def test_constant_column_is_not_amplified():
    table = table_of(300, 6)
    constant = np.column_stack([table, np.full(300, 0.1)])
    refinement = Refinement().fit(constant)
    np.testing.assert_allclose(refinement.matrix_[6], 0, atol=1e-9)
    np.testing.assert_allclose(refinement.matrix_[:6, :6], Refinement().fit(table).matrix_, rtol=1e-6, atol=1e-6)


def test_one_dimension_has_no_direction_after_centering():
    assert not Refinement().fit_transform(np.array([[1.0], [2.0], [4.0]])).any()


@pytest.mark.parametrize("rows", [0, 1])
def test_fewer_than_two_words_with_context_raise(rows):
    table = np.zeros((5, 3))
    table[:rows] = [1, 2, 3]
    with pytest.raises(BitcipherError, match=f"at least 2 words with context, and there are {rows}"):
        Refinement().fit(table)


def test_transform_maps_new_rows():
    table = table_of(300, 6)
    refinement = Refinement().fit(table)
    mean, matrix = refinement.mean_.copy(), refinement.matrix_.copy()
    new = table_of(20, 6, seed=9)
    np.testing.assert_allclose(refinement.transform(table[7:9]), refinement.transform(table)[7:9], atol=1e-6)
    white = (new - mean) @ matrix
    white -= white.mean(axis=1, keepdims=True)
    expected = white / np.linalg.norm(white, axis=1, keepdims=True)
    np.testing.assert_allclose(refinement.transform(new), expected, atol=1e-6)
    np.testing.assert_array_equal(refinement.matrix_, matrix)
    assert not refinement.transform(np.zeros((1, 6))).any()


def test_fit_returns_self_and_does_not_change_the_table():
    table = table_of(30, 4)
    before = table.copy()
    refinement = Refinement()
    assert refinement.fit(table) is refinement
    refinement.transform(table)
    np.testing.assert_array_equal(table, before)


def test_block_size_does_not_change_the_vectors(monkeypatch):
    table = np.insert(table_of(1_000, 5), [0, 400], 0, axis=0)
    whole = Refinement().fit_transform(table)
    monkeypatch.setattr(row_blocks, "BLOCK_ROWS", 300)
    np.testing.assert_allclose(Refinement().fit_transform(table), whole, atol=1e-6)
