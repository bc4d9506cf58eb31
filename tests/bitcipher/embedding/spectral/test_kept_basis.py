"""Factorizations in the basis of an earlier one."""

import numpy as np
import pytest
from made_vectors import merge_counts, small_text
from scipy.linalg import fractional_matrix_power

from bitcipher import BitcipherError
from bitcipher.counts.context_window import ContextWindow
from bitcipher.embedding.spectral.basis import Basis, find_rotation
from bitcipher.embedding.spectral.damping import damping_matrix
from bitcipher.embedding.spectral.in_memory_products import InMemoryProducts
from bitcipher.embedding.spectral.spectral_embedding import POWER, SpectralEmbedding

EMBEDDING = SpectralEmbedding(12, landmarks=60, landmark_contexts=90)
TEXT = small_text()


def counts_of(documents):
    return merge_counts(documents, ContextWindow(2))


def factor_in(basis, counts):
    products = InMemoryProducts.from_counts(counts, 2, basis.columns(counts.vocabulary))
    return EMBEDDING.factor_in_basis(products, counts.vocabulary, products.blocks, basis)


def units(table):
    return table / np.linalg.norm(table, axis=1, keepdims=True)


def cosines(counts, table, other_counts, other_table):
    """Return the cosine of each word of `counts` that the other counts have, too."""
    ranks = other_counts.vocabulary.ranks(counts.vocabulary.words)
    known = (ranks != other_counts.vocabulary.oov_rank) & table.any(axis=1) & other_table[ranks].any(axis=1)
    return (units(table[known]) * units(other_table[ranks[known]])).sum(axis=1)


@pytest.mark.parametrize("later", [TEXT, TEXT[30:]], ids=["text was added", "text and words were removed"])
def test_table_matches_the_definition(later):
    earlier = EMBEDDING.table(counts_of(TEXT[:40]), 2).basis
    counts = counts_of(later)
    found = factor_in(earlier, counts)
    columns = earlier.columns(counts.vocabulary)
    products = InMemoryProducts.from_counts(counts, 2, columns)
    landmarks = len(earlier.directions)
    extension = products.extend(np.eye(landmarks, dtype=np.float32), EMBEDDING.scales(products.blocks))
    matrix = extension.rows.array.astype(float)
    known = np.isin(np.arange(landmarks), columns)
    assert known.all() == (later == TEXT)
    kept = np.where(known[:, None], earlier.directions, 0)
    kept = kept @ fractional_matrix_power(kept.T @ kept, -0.5)
    of_landmarks = np.zeros((landmarks, landmarks))
    ranks = np.flatnonzero((columns >= 0) & (columns < landmarks))
    of_landmarks[columns[ranks]] = matrix[ranks]
    small = kept.T @ of_landmarks @ kept
    plain = matrix @ kept @ fractional_matrix_power((small + small.T) / 2, POWER)
    np.testing.assert_allclose(found.table, plain @ damping_matrix(plain.astype(np.float32)), rtol=1e-2, atol=1e-4)
    np.testing.assert_allclose(found.basis.directions, kept, atol=1e-5)
    image = of_landmarks @ kept
    missed = image - kept @ (kept.T @ image)
    assert found.residual == pytest.approx(np.linalg.norm(missed) / np.linalg.norm(image), rel=1e-3)


def test_more_text_moves_vectors_less_in_a_kept_basis():
    before, after = counts_of(TEXT[:50]), counts_of(TEXT)
    earlier, fresh = EMBEDDING.table(before, 2), EMBEDDING.table(after, 2)
    kept = factor_in(earlier.basis, after)
    assert np.median(cosines(before, earlier.table, after, kept.table)) > 0.95
    assert np.median(cosines(before, earlier.table, after, fresh.table)) < 0.7
    assert 0 < kept.residual < 0.5


def test_own_basis_gives_the_same_vectors():
    counts = counts_of(TEXT)
    fresh = EMBEDDING.table(counts, 2)
    kept = factor_in(fresh.basis, counts)
    assert cosines(counts, fresh.table, counts, kept.table).min() > 0.999
    assert kept.residual < 0.05


def test_rotated_basis_gives_rotated_vectors():
    counts = counts_of(TEXT)
    rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(12, 12)))[0]
    fresh = EMBEDDING.table(counts, 2)
    rotated = factor_in(fresh.rotate(rotation).basis, counts)
    assert cosines(counts, fresh.rotate(rotation).table, counts, rotated.table).min() > 0.999
    found = find_rotation(fresh.table, rotated.table, counts.vocabulary.counts)
    np.testing.assert_allclose(found, rotation, atol=1e-3)


def test_stored_basis_is_read_back():
    basis = EMBEDDING.table(counts_of([*TEXT, ["قلب", "naïve", "a\nb"] * 9]), 2).basis
    again = Basis.from_arrays(basis.to_arrays())
    assert again.contexts.equals(basis.contexts)
    assert again.directions.tobytes() == basis.directions.tobytes()
    assert again.scaling.tobytes() == basis.scaling.tobytes()


@pytest.mark.parametrize(
    "damage",
    [
        {"context_ends": np.array([3, 1], np.int64)},
        {"context_bytes": np.frombuffer(b"ab", np.uint8)},
        {"context_ends": np.array([[3]], np.int64)},
        {
            "context_bytes": np.full(1, 255, np.uint8),
            "context_ends": np.ones(1, np.int64),
            "directions": np.ones((1, 12)),
        },
        {"scaling": np.eye(3)},
        {"directions": np.ones((200, 12), np.float32)},
    ],
)
def test_arrays_that_do_not_match_raise(damage):
    arrays = EMBEDDING.table(counts_of(TEXT), 2).basis.to_arrays()
    with pytest.raises(BitcipherError, match="basis of the vectors is damaged"):
        Basis.from_arrays({**arrays, **damage})
