import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pair_blocks import block_of

from bitcipher import BitcipherError
from bitcipher.counts.digest import CountDigest, digest_pairs, digest_words, word_hashes
from bitcipher.counts.merge import negate

HASHES = word_hashes(pa.array(["a", "b", "é", "<oov>"], pa.large_string()))


def digest(*rows):
    return digest_pairs(block_of(rows), HASHES)


def test_word_hashes_depend_only_on_the_bytes_of_the_word():
    words = pa.array(["x", "b", "é"], pa.large_string())
    assert word_hashes(words).dtype == np.uint64
    np.testing.assert_array_equal(word_hashes(words)[1:], HASHES[1:3])
    np.testing.assert_array_equal(word_hashes(words[1:]), HASHES[1:3])
    assert word_hashes(words[:0]).shape == (0, 2)


def test_digests_do_not_change_between_releases():
    """Manifests store digests, and builds of different releases are compared by them."""
    assert digest((0, 1, {1: 2, 2: -3}), (3, 128, {0: 2**40})).hex() == "f50f0d19789d20d083ba2243d9f7882c"
    assert (
        digest_words(HASHES, np.array([1, 2, 3, 4]), np.array([1, 1, 0, 2]), 7).hex()
        == "8315c0e31bb115052281a3e2509f15f3"
    )


def test_digest_depends_on_every_field_of_a_pair():
    found = [
        digest((0, 1, {1: 2})),
        digest((1, 1, {0: 2})),
        digest((0, 2, {1: 2})),
        digest((0, 0, {1: 2})),
        digest((0, 1, {1: 3})),
        digest((0, 1, {1: -2})),
        digest((0, 1, {2: 2})),
        digest((2, 1, {1: 2})),
        digest((1, 1, {1: 2})),
        digest(),
    ]
    assert len({one.first for one in found}) == len({one.second for one in found}) == len(found)


def test_digest_depends_on_the_pairing_of_left_and_right_words():
    assert digest((0, 1, {1: 1}), (2, 1, {3: 1})) != digest((0, 1, {3: 1}), (2, 1, {1: 1}))
    assert digest((0, 1, {1: 1}), (0, 2, {3: 1})) != digest((0, 1, {3: 1}), (0, 2, {1: 1}))


def test_word_digest_depends_on_every_count():
    counts, passages = np.array([4, 3, 2, 1]), np.array([2, 2, 2, 1])
    found = {
        digest_words(HASHES, counts, passages, 5),
        digest_words(HASHES, passages, counts, 5),
        digest_words(HASHES, counts, passages, 6),
        digest_words(HASHES[::-1], counts, passages, 5),
    }
    assert len(found) == 4


pairs = st.tuples(st.integers(0, 3), st.integers(0, 128), st.integers(0, 3), st.integers(-(2**62), 2**62))


@given(st.lists(pairs, max_size=20), st.lists(pairs, max_size=20))
def test_digests_are_additive(one, other):
    def block(entries):
        return block_of([(left, offset, {right: n}) for left, offset, right, n in entries])

    first, second = digest_pairs(block(one), HASHES), digest_pairs(block(other), HASHES)
    assert digest_pairs(block(other + one), HASHES) == first + second
    assert digest_pairs(negate(block(one)), HASHES) == -first
    assert second + first - first == second
    doubled = [(left, offset, right, 2 * n) for left, offset, right, n in one if abs(n) < 2**61]
    small = [pair for pair in one if abs(pair[3]) < 2**61]
    assert digest_pairs(block(doubled), HASHES) == digest_pairs(block(small + small), HASHES)
    assert first + -first == CountDigest()


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_hex_round_trip(first, second):
    shown = CountDigest(first, second).hex()
    assert len(shown) == 32
    assert CountDigest.from_hex(shown) == CountDigest(first, second)


@pytest.mark.parametrize("digits", ["", "0" * 31, "0" * 33, "g" * 32, "0" * 32 + "\n", "A" * 32])
def test_invalid_digits_raise(digits):
    with pytest.raises(BitcipherError, match="must have 32 digits"):
        CountDigest.from_hex(digits)
