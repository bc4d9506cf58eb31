"""Embeddings of sentences against plain references."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sentence_vectors import SENTENCES, WORDS, make_vectors

from bitcipher import BitcipherError, CipherVectors
from bitcipher.sentences import sentence_encoder
from bitcipher.sentences.sentence_encoder import SentenceEncoder
from bitcipher.sentences.token_table import SMOOTHING


def unit(vector):
    length = np.linalg.norm(vector)
    return vector / length if length else vector


def embed(vectors: CipherVectors, words: list[str]) -> np.ndarray:
    """Return the embedding of a sentence by the formula. Pieces that continue a word have the prefix "##"."""
    total = vectors.counts.sum()
    mean = np.zeros(vectors.vector_size)
    for word in words:
        if word.startswith("##"):
            mean += 0.5 * vectors.get_vector(word[2:], norm=True)
        elif word in vectors and word != "<oov>":
            share = vectors.get_vecattr(word, "count") / total
            mean += SMOOTHING / (SMOOTHING + share) * vectors.get_vector(word, norm=True)
    return unit(mean)


@settings(max_examples=50)
@given(st.lists(st.lists(st.sampled_from([*WORDS, "<oov>", "qqq", "."]), max_size=8), max_size=8))
def test_embeddings_are_weighted_means_of_unit_vectors(sentences):
    vectors = make_vectors([*WORDS, "<oov>"])
    expected = np.array([embed(vectors, words) for words in sentences]).reshape(-1, 10)
    np.testing.assert_allclose(vectors.encode([" ".join(words) for words in sentences]), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("walkjumps", ["walk", "##jumps"]),
        ("talkingwalkthe", ["talking", "##walk", "##the"]),
        ("painter", ["paint"]),  # continued by characters, which have no vectors
        ("walkq", []),  # no word has this character
        ("qwalk", []),
        ("walk<oov>", ["walk"]),
        ("walk" * 26, []),  # too long
    ],
)
def test_unknown_words_are_split_into_pieces(vectors, word, pieces):
    np.testing.assert_allclose(vectors.encode(word), embed(vectors, pieces), atol=1e-6)


def test_only_frequent_words_continue_unknown_ones(vectors, monkeypatch):
    monkeypatch.setattr("bitcipher.sentences.token_table.PIECES", 5)
    encoder = SentenceEncoder.from_vectors(vectors)
    np.testing.assert_allclose(encoder.encode("walkdo"), embed(vectors, ["walk", "##do"]), atol=1e-6)
    np.testing.assert_allclose(encoder.encode("walkjump"), embed(vectors, ["walk"]), atol=1e-6)


def test_words_that_look_like_pieces_keep_their_vectors():
    vectors = make_vectors(["##walk", "##a", "zero", "<oov>", "walk", "a"], tokenizer="whitespace")
    for word in ("##walk", "##a"):
        np.testing.assert_allclose(vectors.encode(word), vectors.get_vector(word, norm=True), atol=1e-6)


def test_raw_text_is_lowercased_and_split(vectors):
    expected = embed(vectors, ["do", "n't", "jump", "in", "the", "u.s."])
    np.testing.assert_allclose(vectors.encode("Don't jump in the U.S."), expected, atol=1e-6)


def test_results_do_not_depend_on_batches_and_cache(vectors, monkeypatch):
    sentences = SENTENCES * 5
    whole = vectors.encode(sentences)
    monkeypatch.setattr(sentence_encoder, "BATCH_SENTENCES", 2)
    monkeypatch.setattr("bitcipher.sentences.token_finder.MAX_CACHED_CHARACTERS", 10)
    encoder = SentenceEncoder.from_vectors(vectors)
    np.testing.assert_array_equal(encoder.encode(sentences), whole)
    monkeypatch.setattr(sentence_encoder, "BATCH_CHARACTERS", 1)
    np.testing.assert_array_equal(encoder.encode(iter(sentences)), whole)


def test_shapes_and_sentences_without_known_words(vectors):
    assert vectors.encode([]).shape == (0, 10)
    assert vectors.encode("the walk").shape == (10,)
    rows = vectors.encode(["", " \n", "qqq", "<oov>", "zero", "walk"])
    assert rows.dtype == np.float32
    assert not rows[:5].any()
    assert np.linalg.norm(rows[5]) == pytest.approx(1)


def test_separators_split_as_in_the_exported_tokenizer(vectors):
    rows = vectors.encode(["walk\x1cjump", "walk\u00a0jump", "walk\u3000jump"])
    assert not rows[0].any()  # one unknown word
    np.testing.assert_array_equal(rows[1:], vectors.encode(["walk jump"] * 2))


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        (["a", 1], "int at position 1"),
        ([b"a"], "bytes at position 0"),
        (b"a", "got bytes"),
        (None, "got NoneType"),
        (["the", "a\ud800"], "not valid Unicode"),
    ],
)
def test_wrong_sentences_are_refused(vectors, sentences, message):
    with pytest.raises(BitcipherError, match=message):
        vectors.encode(sentences)


def test_wrong_counts_are_refused(vectors):
    without = CipherVectors(vectors.words, vectors.vectors)
    with pytest.raises(BitcipherError, match="pass `counts`"):
        without.encode("a")
    for counts in ({}, {"the": -1, "walk": 3}):
        with pytest.raises(BitcipherError, match="at least 0"):
            SentenceEncoder.from_vectors(without, counts)


def test_counts_of_another_text_and_vectors_without_oov(vectors):
    counts = dict(zip(vectors.index_to_key, vectors.counts.tolist(), strict=True))
    without = CipherVectors(vectors.index_to_key[:-1], vectors.vectors[:-1])
    encoder = SentenceEncoder.from_vectors(without, counts)
    np.testing.assert_array_equal(encoder.encode(SENTENCES), vectors.encode(SENTENCES))


def test_fit_whitens_after_adding_the_mean_variance(vectors):
    sentences = [" ".join(np.random.default_rng(seed).choice(WORDS, 5)) for seed in range(300)]
    rows = vectors.encode(sentences).astype(float)
    variances, directions = np.linalg.eigh(rows.T @ rows)
    scales = (variances / variances.sum() + 1 / len(variances)) ** -0.5
    expected = rows @ (directions * scales) @ directions.T
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    fitted = SentenceEncoder.from_vectors(vectors).fit(sentences)
    found = fitted.encode(sentences)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    # The direction that all words share no longer determines the cosines.
    assert np.mean(found @ found.T) < np.mean(rows @ rows.T) / 2


def test_fit_needs_known_words(vectors):
    encoder = SentenceEncoder.from_vectors(vectors)
    for sentences in ([], ["qqq"]):
        with pytest.raises(BitcipherError, match="got none"):
            encoder.fit(sentences)
    with pytest.raises(BitcipherError, match="list of strings"):
        encoder.fit("the walk")
