import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitcipher import BitCipher, BitcipherError, Vocabulary
from bitcipher.embedding.noise import NOISE_OVER, NOISES, beta, noise_distribution


def vocabulary_of(counts, passages, total_passages):
    words = pa.array([f"w{rank}" for rank in range(len(counts))], pa.large_string())
    return Vocabulary(words, counts, passages, total_passages)


@pytest.mark.parametrize(
    ("noise", "expected"),
    [
        ("document_share", [3 / 4, 2 / 4, 1 / 4, 0]),
        ("frequency", [9 / 10, 4 / 5, 1 / 2, 0]),
        ("document_ratio", [3 / 9, 2 / 4, 1 / 1, 0]),
        ("none", [1, 1, 1, 1]),
    ],
)
def test_beta_of_each_noise(noise, expected):
    vocabulary = vocabulary_of([9, 4, 1, 0], [3, 2, 1, 0], 4)
    np.testing.assert_allclose(beta(noise, vocabulary), expected, rtol=1e-15)


def test_noise_names_do_not_change():
    assert list(NOISES) == ["document_share", "frequency", "document_ratio", "none"]


def test_unknown_noise_raises():
    with pytest.raises(BitcipherError, match="no noise 'white'"):
        beta("white", vocabulary_of([1], [1], 1))


def test_noise_distribution_of_a_small_vocabulary():
    # M = 16. Codes 0, 1, 2, 12: m = (8, 4 + 1/2 · 2, 2 + 1/2 · 2) = (8, 5, 3); σ = (1 - m / 16) / 2.
    sigma = noise_distribution(BitCipher(3).active_bits(4), 3, vocabulary_of([8, 4, 2, 2], [1, 1, 1, 1], 3))
    np.testing.assert_allclose(sigma, [8 / 32, 11 / 32, 13 / 32], rtol=1e-15)


def test_noise_distribution_over_words():
    # (1 - f / 16) / 3 = (8, 12, 14, 14) / 48 of the codes 0, 1, 2, 12: σ = (8, 12 + 14/2, 14 + 14/2) / 48.
    vocabulary = vocabulary_of([8, 4, 2, 2], [1, 1, 1, 1], 3)
    sigma = noise_distribution(BitCipher(3).active_bits(4), 3, vocabulary, "words")
    np.testing.assert_allclose(sigma, [8 / 48, 19 / 48, 21 / 48], rtol=1e-15)


@given(st.lists(st.integers(1, 2**40), min_size=2, max_size=60), st.integers(6, 40), st.sampled_from(NOISE_OVER))
@settings(max_examples=50, deadline=None)
def test_noise_distribution_sums_to_1(counts, bits, over):
    counts = sorted(counts, reverse=True)
    sigma = noise_distribution(
        BitCipher(bits).active_bits(len(counts)), bits, vocabulary_of(counts, np.ones(len(counts)), 1), over
    )
    assert sigma.shape == (bits,)
    assert sigma.sum() == pytest.approx(1, rel=1e-12)
    assert (sigma > -1e-12).all()


def test_noise_without_another_bit_or_word_raises():
    vocabulary = vocabulary_of([1], [1], 1)
    with pytest.raises(BitcipherError, match="Noise needs at least 2 bits"):
        noise_distribution(BitCipher(1).active_bits(1), 1, vocabulary)
    with pytest.raises(BitcipherError, match="Noise over words needs at least 2 words"):
        noise_distribution(BitCipher(2).active_bits(1), 2, vocabulary, "words")
    with pytest.raises(BitcipherError, match="no noise over 'letters'"):
        noise_distribution(BitCipher(2).active_bits(1), 2, vocabulary, "letters")
