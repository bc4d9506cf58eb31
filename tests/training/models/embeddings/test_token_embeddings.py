import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_runs import tiny_documents

from bitcipher.errors import BitcipherError
from bitcipher.vectors.cipher_vectors import CipherVectors
from training.data.special_tokens import special_tokens
from training.data.train_tokenizer import train_tokenizer
from training.models.embeddings.embedding_table import cat_bits_and_window, resize_vectors, token_embeddings


@pytest.fixture(scope="module")
def tokenizer():
    return train_tokenizer(tiny_documents(), "bpe", 300)


def vectors_of(tokenizer, tokens, width=4):
    random = np.random.default_rng(0)
    words = [tokenizer.id_to_token(token) for token in tokens]
    return CipherVectors(words, random.normal(size=(len(words), width)), counts=np.arange(len(words), 0, -1))


def test_rows_are_in_id_order(tokenizer):
    tokens = list(range(299, 9, -1))
    vectors = vectors_of(tokenizer, tokens)
    table = token_embeddings(vectors, tokenizer)
    for token in (10, 77, 299):
        np.testing.assert_array_equal(table.rows[token], vectors[tokenizer.id_to_token(token)])
        assert table.counts[token] == vectors.get_vecattr(tokenizer.id_to_token(token), "count")
    assert table.rows.shape == (300, 4)
    assert np.flatnonzero(~table.has_vector).tolist() == list(range(10))


def test_special_tokens_have_no_vector(tokenizer):
    table = token_embeddings(vectors_of(tokenizer, range(300)), tokenizer)
    specials = special_tokens(tokenizer)
    assert not table.has_vector[[specials.pad, specials.begin, specials.end, specials.unknown, specials.mask]].any()
    assert table.has_vector.sum() == 295


def test_vectors_of_other_tokenizer_raise(tokenizer):
    with pytest.raises(BitcipherError, match="Only 0 of the 2 words"):
        token_embeddings(CipherVectors(["dogs", "cats"], np.eye(2)), tokenizer)


def test_zero_row_is_not_a_vector(tokenizer):
    vectors = vectors_of(tokenizer, range(5, 300))
    rows = np.array(vectors.vectors)
    rows[12] = 0
    table = token_embeddings(CipherVectors(vectors.index_to_key, rows), tokenizer)
    assert not table.has_vector[17]


@given(st.integers(1, 12), st.integers(1, 12))
def test_widening_preserves_distances(dimensions, more):
    rows = np.random.default_rng(dimensions).normal(size=(30, dimensions)).astype(np.float32)
    fitted = resize_vectors(rows, dimensions + more)
    np.testing.assert_allclose(fitted @ fitted.T, rows @ rows.T, atol=1e-4)
    assert resize_vectors(rows, dimensions) is rows


def test_narrowing_keeps_leading_directions():
    random = np.random.default_rng(0)
    rows = (random.normal(size=(200, 6)) * [9, 1, 7, 0.01, 0.01, 0.01]).astype(np.float32)
    fitted = resize_vectors(rows, 3)
    np.testing.assert_allclose(fitted @ fitted.T, rows @ rows.T, atol=0.1)


def test_cat_bits_and_window():
    for width, words, window in ((128, 8000, 4), (200, 85_000, 4), (256, 30_000, 8), (768, 50_000, 8)):
        bits, near = cat_bits_and_window(width, words, window)
        assert 2 * near * bits == width
        assert 2**bits - 1 >= words
        assert near <= window


def test_too_narrow_model_raises():
    with pytest.raises(BitcipherError, match="even and at least 26"):
        cat_bits_and_window(20, 8_000, 4)
