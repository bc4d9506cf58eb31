"""What the modes cat and sum make of the row of a word (SPEC 1), one word at a time."""

import numpy as np

from bitcipher import noise as noises
from bitcipher.embedding import CipherEmbedding
from bitcipher.embedding.cipher_embedding import SHARE_FLOOR
from bitcipher.rows.word_rows import Row
from bitcipher.vocabulary import Vocabulary


class CipherRows:
    """The code of all words, and rows in it.

    Args:
        embedding: of mode cat or sum.
        vocabulary: the words.

    Attributes:
        embedding: as given.
        codes: the active bits of all words.
        trust: (N,) float64, β.
        noise_distribution: (b,) float64, σ.
        blocks: of dimensions: offsets, or one for all.
    """

    def __init__(self, embedding: CipherEmbedding, vocabulary: Vocabulary):
        self.embedding = embedding
        self.codes = embedding.cipher.active_bits(len(vocabulary))
        self.trust = noises.trust(embedding.noise, vocabulary)
        bits = embedding.bits
        certain = embedding.noise == "none"
        self.noise_distribution = np.zeros(bits) if certain else noises.noise_distribution(self.codes, bits, vocabulary)
        self.blocks = embedding.vector_size // bits

    def ciphers(self, words: np.ndarray) -> np.ndarray:
        """The noisy ciphers v of words, (n, b) float64."""
        starts = self.codes.starts
        sizes = starts[words + 1] - starts[words]
        owners = np.repeat(np.arange(len(words)), sizes)
        within = np.arange(len(owners)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        result = np.outer(1 - self.trust[words], self.noise_distribution)
        result[owners, self.codes.bits[starts[words][owners] + within]] += (self.trust[words] / sizes)[owners]
        return result

    def block_of(self, offsets: np.ndarray) -> np.ndarray:
        """The block of dimensions of each offset."""
        if self.blocks == 1:
            return np.zeros(len(offsets), np.int64)
        return offsets + self.embedding.window - (offsets > 0)

    def offset_of(self, block: int) -> int:
        """The offset of a block of dimensions; 0 for that of all offsets."""
        return 0 if self.blocks == 1 else block - self.embedding.window + int(block >= self.embedding.window)

    def amounts(self, counts: np.ndarray) -> np.ndarray:
        """What pairs count before they are told in bits."""
        return np.log1p(counts) if self.embedding.log == "counts" else counts.astype(np.float64)

    def sums(self, row: Row) -> np.ndarray:
        """Counts times ciphers, (blocks, b) float64."""
        told = self.amounts(row.counts)[:, None] * self.ciphers(row.contexts)
        result = np.zeros((self.blocks, self.embedding.bits))
        np.add.at(result, self.block_of(row.offsets), told)
        return result

    def raw(self, sums: np.ndarray) -> np.ndarray:
        """A row of the raw table, (d,) float64, as `CipherEmbedding.table` has it."""
        if self.embedding.log != "aggregate" or not sums.any():
            return sums.ravel()
        totals = sums.sum(axis=1, keepdims=True)
        shares = np.divide(sums, totals, out=np.full_like(sums, 1 / sums.shape[1]), where=totals > 0)
        return np.log(np.maximum(shares, SHARE_FLOOR)).ravel()
