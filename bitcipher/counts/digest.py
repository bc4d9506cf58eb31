"""Additive digest of counts: it detects counts that were lost or counted twice.

Each pair has a fixed pseudo-random number h, derived from the bytes of its words and from its offset. The digest is
Σ n · h over all pairs with their counts n, so it does not depend on the order of the pairs, on the blocks that hold
them, or on the numbering of the words. The digest of a sum of counts is the sum of their digests, and the digest of a
difference is the difference of the digests.

h is the product of a hash of the left word and offset and a hash of the right word, so a pair costs one multiplication
and no hashing. Two different sets of counts have the same Σ n · h only if a polynomial of degree 2 in random numbers is
0. The probability is about 2⁻⁶⁰ for each half of the digest. (If all counts differ by multiples of 2ʲ, each half has j
bits less.) The digest is a checksum against loss and duplication, not against forgery, because it is easy to construct
other counts with the same digest.
"""

import hashlib
import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from bitcipher.counts.pairs import PairBlock
from bitcipher.errors import BitcipherError
from bitcipher.kernel_cache import kernel
from bitcipher.splitmix import GOLDEN, MIX_1, MIX_2

_MODULUS = 2**64

# Values that replace the offset for counts of single words. Offsets of pairs are 0 … 128.
_OCCURRENCES = -1
_PASSAGES = -2
_ALL_PASSAGES = -3


# Number of words that are hashed at a time. A word and its hash take 150 bytes as Python objects.
HASHED_WORDS = 1 << 16


@dataclass(frozen=True)
class CountDigest:
    """Two sums modulo 2⁶⁴ with independent hashes. The digest of no counts is `CountDigest()`."""

    first: int = 0
    second: int = 0

    def __add__(self, other: "CountDigest") -> "CountDigest":
        return CountDigest((self.first + other.first) % _MODULUS, (self.second + other.second) % _MODULUS)

    def __neg__(self) -> "CountDigest":
        return CountDigest(-self.first % _MODULUS, -self.second % _MODULUS)

    def __sub__(self, other: "CountDigest") -> "CountDigest":
        return self + -other

    def hex(self) -> str:
        """Return the digest as 32 hexadecimal digits."""
        return f"{self.first:016x}{self.second:016x}"

    @classmethod
    def from_hex(cls, digits: str) -> "CountDigest":
        """Return the digest of 32 hexadecimal digits.

        Raises:
            BitcipherError: if `digits` does not have this form.
        """
        if not re.fullmatch("[0-9a-f]{32}", digits):
            raise BitcipherError(f"A digest of counts must have 32 digits from 0-9 and a-f, got {digits!r}.")
        return cls(int(digits[:16], 16), int(digits[16:], 16))


def word_hashes(words: pa.LargeStringArray) -> np.ndarray:
    """Return two hashes of the UTF-8 bytes of each of V words, (V, 2) uint64: the halves of its BLAKE2b-128."""
    hashes = np.empty((len(words), 2), np.uint64)
    for start in range(0, len(words), HASHED_WORDS):
        some = words.slice(start, HASHED_WORDS).cast(pa.large_binary()).to_pylist()
        digests = b"".join([hashlib.blake2b(word, digest_size=16).digest() for word in some])
        hashes[start : start + len(some)] = np.frombuffer(digests, "<u8").reshape(-1, 2)
    return hashes


def digest_pairs(block: PairBlock, hashes: np.ndarray) -> CountDigest:
    """Return the digest of a block of rows.

    Args:
        block: the rows. Counts can be negative.
        hashes: (V, 2) uint64 from `word_hashes`, indexed by the word numbers of the block.
    """
    return CountDigest(*map(int, _digest_rows(block, hashes)))


def digest_words(hashes: np.ndarray, counts: np.ndarray, passages: np.ndarray, total_passages: int) -> CountDigest:
    """Return the digest of the counts of words.

    Args:
        hashes: (V, 2) uint64 from `word_hashes`.
        counts: (V,) int64, occurrences of each word.
        passages: (V,) int64, number of passages that contain each word.
        total_passages: number of all passages.
    """
    return CountDigest(*map(int, _digest_words(hashes, counts, passages, total_passages)))


@kernel
def _key(word_hash, offset):
    """Mix a word's hash with an offset. The result is odd, so multiplication by it loses no information."""
    value = word_hash + np.uint64(offset) * GOLDEN
    value = (value ^ (value >> np.uint64(30))) * MIX_1
    value = (value ^ (value >> np.uint64(27))) * MIX_2
    return (value ^ (value >> np.uint64(31))) | np.uint64(1)


@kernel
def _digest_rows(block, hashes):
    first, second = np.uint64(0), np.uint64(0)
    start = 0
    for row in range(len(block.left)):
        stop = start + block.length[row]
        first_sum, second_sum = np.uint64(0), np.uint64(0)
        for entry in range(start, stop):
            right = np.uint32(block.right[entry])
            n = np.uint64(block.count[entry])
            first_sum += n * hashes[right, 0]
            second_sum += n * hashes[right, 1]
        left, offset = block.left[row], np.int64(block.offset[row])
        first += _key(hashes[left, 0], offset) * first_sum
        second += _key(hashes[left, 1], offset) * second_sum
        start = stop
    return first, second


@kernel
def _digest_words(hashes, counts, passages, total_passages):
    sums = np.zeros(2, np.uint64)
    for lane in range(2):
        for word in range(len(hashes)):
            sums[lane] += np.uint64(counts[word]) * _key(hashes[word, lane], _OCCURRENCES)
            sums[lane] += np.uint64(passages[word]) * _key(hashes[word, lane], _PASSAGES)
        sums[lane] += np.uint64(total_passages) * _key(np.uint64(lane), _ALL_PASSAGES)
    return sums[0], sums[1]
