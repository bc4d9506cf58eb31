from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitcipher import BitCipher, BitcipherError, Vocabulary
from bitcipher.noise import noise_distribution, trust

# SPEC 1, with bits numbered from 1.
FIVE_BITS = (
    "1 2 3 4 5 45 35 25 15 34 24 14 23 13 12 125 135 235 145 245 345 124 134 234 123 1235 2345 1345 1245 1234 12345"
)


def as_lists(codes):
    return [codes.bits[start:stop].tolist() for start, stop in pairwise(codes.starts)]


def figure_2(n, b):
    """Figure 2 of the paper as it is printed, line by line; gives the raw bit vectors U."""
    collections = {0: [(0,) * b]} | {k: [] for k in range(1, b + 1)}
    basis = [tuple(int(bit == place) for bit in range(b)) for place in range(b)]
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


def test_five_bits_are_those_of_the_specification():
    expected = [[int(digit) - 1 for digit in code] for code in FIVE_BITS.split()]
    assert as_lists(BitCipher(5).active_bits(31)) == expected


@pytest.mark.parametrize("bits", range(1, 11))
def test_every_vector_is_that_of_figure_2(bits):
    n = 2**bits - 1
    vectors = BitCipher(bits).matrix(n).toarray()
    np.testing.assert_array_equal(vectors, figure_2(n, bits))
    assert len(np.unique(vectors, axis=0)) == n


@given(st.data())
@settings(max_examples=50, deadline=None)
def test_fewer_words_have_the_first_codes_of_more(data):
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


def test_420_000_words_at_200_bits_have_three_active_bits_at_most():
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
def test_deciphering_undoes_enciphering(bits):
    n = 2**bits - 1
    cipher = BitCipher(bits)
    np.testing.assert_array_equal(cipher.decipher(cipher.encipher(n).toarray())[:, 0], np.arange(n))


@pytest.mark.parametrize(("bits", "n"), [(2, 3), (5, 31), (8, 255), (25, 2_000)])
def test_deciphering_sees_through_noise(bits, n):
    counts = 1_000_000 // np.arange(1, n + 1)
    words = pa.array([str(rank) for rank in range(n)], pa.large_string())
    vocabulary = Vocabulary(words, counts, counts, 1_000_000)
    ciphers = BitCipher(bits).encipher(n)
    beta = trust("frequency", vocabulary)[:, None]
    noisy = beta * ciphers.toarray() + (1 - beta) * noise_distribution(BitCipher(bits).active_bits(n), bits, vocabulary)
    assert (noisy > 0).all()
    np.testing.assert_array_equal(BitCipher(bits).decipher(noisy, n)[:, 0], np.arange(n))


def test_deciphering_ranks_by_cosine_and_then_by_frequency():
    cipher = BitCipher(3)
    codes = as_lists(cipher.active_bits(7))
    assert codes == [[0], [1], [2], [1, 2], [0, 2], [0, 1], [0, 1, 2]]
    assert cipher.decipher(np.zeros(3), topn=7).tolist() == [[0, 1, 2, 3, 4, 5, 6]]
    # Cosines times the prediction's norm: 1, 1, 0 for the single bits; 0.71, 0.71, 1.41 for the pairs; 1.15.
    assert cipher.decipher([1, 1, 0], topn=7).tolist() == [[5, 6, 0, 1, 3, 4, 2]]
    assert cipher.decipher([1, 1, 0], n=5, topn=3).tolist() == [[0, 1, 3]]
    assert cipher.decipher(np.zeros((600, 3)) + [0, 0, 1], topn=1).tolist() == [[2]] * 600


def test_predictions_of_other_dimensions_are_an_error():
    with pytest.raises(BitcipherError, match=r"Predictions have 4 dimensions, but the code has 5 bits\."):
        BitCipher(5).decipher(np.zeros((2, 4)))


@pytest.mark.parametrize(
    ("bits", "n", "numbers"),
    [
        (5, 32, ("32", "5", "31", "6")),
        (5, 64, ("64", "5", "31", "7")),
        (1, 2, ("2", "1", "1", "2")),
        (10, 419_375, ("419,375", "10", "1,023", "19")),
    ],
)
def test_too_few_bits_name_both_numbers_and_the_bits_that_fit(bits, n, numbers):
    words, has, holds, needs = numbers
    message = f"{words} words do not fit into {has} bits, which tell {holds} words apart: use at least {needs} bits."
    for method in ("active_bits", "matrix", "encipher"):
        with pytest.raises(BitcipherError) as caught:
            getattr(BitCipher(bits), method)(n)
        assert str(caught.value) == message
    assert len(BitCipher(int(needs)).active_bits(n).starts) == n + 1
    with pytest.raises(BitcipherError):
        BitCipher(int(needs) - 1).active_bits(n)


def test_a_code_without_words_is_an_error():
    with pytest.raises(BitcipherError, match="at least 1 word, not 0"):
        BitCipher(5).active_bits(0)


@pytest.mark.parametrize("bits", [0, -3, 2.5, 5.0, "5", True, None])
def test_bits_are_a_whole_number_of_at_least_1(bits):
    with pytest.raises(BitcipherError, match="bits must be a whole number of at least 1, not"):
        BitCipher(bits)


def test_bits_may_be_a_number_of_numpy():
    assert as_lists(BitCipher(np.int64(5)).active_bits(31)) == as_lists(BitCipher(5).active_bits(31))


def test_deciphering_without_a_number_of_words_is_for_short_codes():
    with pytest.raises(BitcipherError, match="say how many"):
        BitCipher(21).decipher(np.ones((1, 21)))
