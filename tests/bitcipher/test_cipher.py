from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitcipher import BitCipher, BitcipherError, Vocabulary
from bitcipher.embedding.noise import beta, noise_distribution

# The codes of Figure 2 of the paper at 5 bits, with bits numbered from 1.
FIVE_BITS = (
    "1 2 3 4 5 45 35 25 15 34 24 14 23 13 12 125 135 235 145 245 345 124 134 234 123 1235 2345 1345 1245 1234 12345"
)


def as_lists(codes):
    return [codes.bits[start:stop].tolist() for start, stop in pairwise(codes.starts)]


def figure_2(n, b):
    """Return the bit vectors U by the algorithm of Figure 2 of the paper, line by line."""
    collections = {0: [(0,) * b]} | {k: [] for k in range(1, b + 1)}
    basis = [tuple(int(bit == active) for bit in range(b)) for active in range(b)]
    assigned = []
    i, j, k = 0, 0, 1
    for _ in range(n):
        found = False
        while not found:
            u = tuple(abs(x - y) for x, y in zip(collections[k - 1][j], basis[i], strict=True))
            if sum(u) == k and u not in collections[k]:
                collections[k].append(u)
                assigned.append(u)
                found = True
            j += 1
            if j == len(collections[k - 1]):
                j = 0
                i += 1
                if i == b:
                    if k == 1:
                        basis.reverse()
                    i = 0
                    collections[k].reverse()
                    k += 1
    return np.array(assigned)


def test_codes_of_five_bits():
    expected = [[int(digit) - 1 for digit in code] for code in FIVE_BITS.split()]
    assert as_lists(BitCipher(5).active_bits(31)) == expected


@pytest.mark.parametrize("bits", range(1, 11))
def test_codes_match_figure_2(bits):
    n = 2**bits - 1
    vectors = BitCipher(bits).matrix(n).toarray()
    np.testing.assert_array_equal(vectors, figure_2(n, bits))
    assert len(np.unique(vectors, axis=0)) == n


@given(st.data())
@settings(max_examples=50, deadline=None)
def test_codes_do_not_depend_on_the_number_of_words(data):
    bits = data.draw(st.integers(2, 12))
    m = data.draw(st.integers(2, 2**bits - 1))
    n = data.draw(st.integers(1, m - 1))
    few, many = BitCipher(bits).active_bits(n), BitCipher(bits).active_bits(m)
    np.testing.assert_array_equal(few.starts, many.starts[: n + 1])
    np.testing.assert_array_equal(few.bits, many.bits[: few.starts[-1]])


def test_active_bits_ascend_and_have_the_documented_types():
    codes = BitCipher(9).active_bits(500)
    assert codes.starts.dtype == np.int64
    assert codes.bits.dtype == np.int32
    assert all(code == sorted(set(code)) for code in as_lists(codes))


def test_420_000_words_at_200_bits_have_at_most_three_active_bits():
    codes = BitCipher(200).active_bits(420_000)
    assert len(codes.starts) == 420_001
    sizes = np.diff(codes.starts)
    assert np.bincount(sizes).tolist() == [0, 200, 19_900, 399_900]
    assert codes.bits.min() == 0
    assert codes.bits.max() == 199


@pytest.mark.parametrize(("bits", "n"), [(1, 1), (4, 9), (25, 5_000), (200, 30_000)])
def test_ciphers_are_bit_vectors_of_sum_1(bits, n):
    cipher = BitCipher(bits)
    ciphers, vectors = cipher.encipher(n), cipher.matrix(n)
    assert ciphers.shape == (n, bits)
    np.testing.assert_allclose(ciphers.sum(axis=1), 1, rtol=1e-15)
    np.testing.assert_allclose((ciphers - vectors / vectors.sum(axis=1)[:, None]).toarray(), 0, atol=1e-15)


@pytest.mark.parametrize("bits", range(1, 9))
def test_decipher_inverts_encipher(bits):
    n = 2**bits - 1
    cipher = BitCipher(bits)
    np.testing.assert_array_equal(cipher.decipher(cipher.encipher(n).toarray())[:, 0], np.arange(n))


@pytest.mark.parametrize(("bits", "n"), [(2, 3), (5, 31), (8, 255), (25, 2_000)])
def test_decipher_recovers_noisy_ciphers(bits, n):
    counts = 1_000_000 // np.arange(1, n + 1)
    words = pa.array([str(rank) for rank in range(n)], pa.large_string())
    vocabulary = Vocabulary(words, counts, counts, 1_000_000)
    ciphers = BitCipher(bits).encipher(n)
    weights = beta("frequency", vocabulary)[:, None]
    distribution = noise_distribution(BitCipher(bits).active_bits(n), bits, vocabulary)
    noisy = weights * ciphers.toarray() + (1 - weights) * distribution
    assert (noisy > 0).all()
    np.testing.assert_array_equal(BitCipher(bits).decipher(noisy, n)[:, 0], np.arange(n))


def test_decipher_ranks_by_cosine_then_by_frequency():
    cipher = BitCipher(3)
    codes = as_lists(cipher.active_bits(7))
    assert codes == [[0], [1], [2], [1, 2], [0, 2], [0, 1], [0, 1, 2]]
    assert cipher.decipher(np.zeros(3), topn=7).tolist() == [[0, 1, 2, 3, 4, 5, 6]]
    # Scores: 1, 1, 0 for the single bits; 0.71, 0.71, 1.41 for the pairs; 1.15 for all three bits.
    assert cipher.decipher([1, 1, 0], topn=7).tolist() == [[5, 6, 0, 1, 3, 4, 2]]
    assert cipher.decipher([1, 1, 0], n=5, topn=3).tolist() == [[0, 1, 3]]
    assert cipher.decipher(np.zeros((600, 3)) + [0, 0, 1], topn=1).tolist() == [[2]] * 600


def test_predictions_of_another_size_raise():
    with pytest.raises(BitcipherError, match=r"4 dimensions.*5 bits"):
        BitCipher(5).decipher(np.zeros((2, 4)))


@pytest.mark.parametrize(
    ("bits", "n", "largest", "needed"),
    [
        (5, 32, "31", 6),
        (5, 64, "31", 7),
        (1, 2, "1", 2),
        (10, 419_375, "1,023", 19),
    ],
)
def test_too_few_bits_raise_with_the_number_of_bits_needed(bits, n, largest, needed):
    for method in ("active_bits", "matrix", "encipher"):
        with pytest.raises(BitcipherError, match=rf"codes for {largest} words, not for {n:,}.*at least {needed} bits"):
            getattr(BitCipher(bits), method)(n)
    assert len(BitCipher(needed).active_bits(n).starts) == n + 1
    with pytest.raises(BitcipherError):
        BitCipher(needed - 1).active_bits(n)


def test_zero_words_raise():
    with pytest.raises(BitcipherError, match="`n` must be at least 1"):
        BitCipher(5).active_bits(0)


@pytest.mark.parametrize("bits", [0, -3, 2.5, 5.0, "5", True, None])
def test_invalid_bits_raise(bits):
    with pytest.raises(BitcipherError, match=r"`bits`.*at least 1"):
        BitCipher(bits)


def test_bits_may_be_a_numpy_integer():
    assert as_lists(BitCipher(np.int64(5)).active_bits(31)) == as_lists(BitCipher(5).active_bits(31))


def test_decipher_of_a_long_code_needs_n():
    with pytest.raises(BitcipherError, match="pass `n`"):
        BitCipher(21).decipher(np.ones((1, 21)))
