import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_runs import tiny_documents

from bitcipher.errors import BitcipherError
from bitcipher.vectors import CipherVectors
from training.data import special_tokens, train_tokenizer
from training.embeddings import bits_for, fit_width, token_table


@pytest.fixture(scope="module")
def tokenizer():
    return train_tokenizer(tiny_documents(), "bpe", 300)


def vectors_of(tokenizer, tokens, width=4):
    random = np.random.default_rng(0)
    words = [tokenizer.id_to_token(token) for token in tokens]
    return CipherVectors(words, random.normal(size=(len(words), width)), counts=np.arange(len(words), 0, -1))


def test_rows_stand_in_the_tokenizers_order(tokenizer):
    tokens = list(range(299, 9, -1))
    vectors = vectors_of(tokenizer, tokens)
    table = token_table(vectors, tokenizer)
    for token in (10, 77, 299):
        np.testing.assert_array_equal(table.rows[token], vectors[tokenizer.id_to_token(token)])
        assert table.counts[token] == vectors.get_vecattr(tokenizer.id_to_token(token), "count")
    assert table.rows.shape == (300, 4)
    assert np.flatnonzero(~table.known).tolist() == list(range(10))


def test_special_tokens_have_no_vector_even_if_text_looks_like_them(tokenizer):
    table = token_table(vectors_of(tokenizer, range(300)), tokenizer)
    specials = special_tokens(tokenizer)
    assert not table.known[[specials.pad, specials.begin, specials.end, specials.unknown, specials.mask]].any()
    assert table.known.sum() == 295


def test_vectors_of_words_are_refused(tokenizer):
    with pytest.raises(BitcipherError, match=r"Only 0 of the 2 words that have vectors are tokens"):
        token_table(CipherVectors(["dogs", "cats"], np.eye(2)), tokenizer)


def test_zeros_are_no_vector(tokenizer):
    vectors = vectors_of(tokenizer, range(5, 300))
    rows = np.array(vectors.vectors)
    rows[12] = 0
    table = token_table(CipherVectors(vectors.index_to_key, rows), tokenizer)
    assert not table.known[17]


@given(st.integers(1, 12), st.integers(1, 12))
def test_a_wider_or_equal_model_keeps_all_distances(dimensions, more):
    rows = np.random.default_rng(dimensions).normal(size=(30, dimensions)).astype(np.float32)
    fitted = fit_width(rows, dimensions + more)
    np.testing.assert_allclose(fitted @ fitted.T, rows @ rows.T, atol=1e-4)
    assert fit_width(rows, dimensions) is rows


def test_a_narrower_model_keeps_what_differs_most():
    random = np.random.default_rng(0)
    rows = (random.normal(size=(200, 6)) * [9, 1, 7, 0.01, 0.01, 0.01]).astype(np.float32)
    fitted = fit_width(rows, 3)
    np.testing.assert_allclose(fitted @ fitted.T, rows @ rows.T, atol=0.1)


def test_bits_and_radius_give_exactly_the_models_width():
    for width, words, window in ((128, 8000, 4), (200, 85_000, 4), (256, 30_000, 8), (768, 50_000, 8)):
        bits, near = bits_for(width, words, window)
        assert 2 * near * bits == width
        assert 2**bits - 1 >= words
        assert near <= window


def test_a_model_that_is_too_narrow_is_a_plain_sentence():
    with pytest.raises(BitcipherError, match="No Cat vectors of 8,000 words are 20 wide: they take 13 bits"):
        bits_for(20, 8_000, 4)
