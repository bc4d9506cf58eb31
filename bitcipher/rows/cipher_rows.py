"""`CipherRows`: the rows of single words in modes cat and sum."""

import numpy as np

from bitcipher.embedding.cipher_embedding import SHARE_FLOOR, CipherEmbedding
from bitcipher.rows.word_rows import ContextCounts
from bitcipher.vocabulary import Vocabulary


class CipherRows:
    """Noisy ciphers of all words, and their products with the context counts of single words.

    Args:
        embedding: an embedding of mode cat or sum.
        vocabulary: the words with their counts.

    Attributes:
        embedding: the argument `embedding`.
        codes: active bits of all words.
        beta: (N,) float64, the weight β of each word's cipher (see `bitcipher.embedding.noise`).
        noise_distribution: (b,) float64, the noise probability σ of each of the b bits.
        blocks: number of blocks of b dimensions: one per offset in mode cat, one in mode sum.
    """

    def __init__(self, embedding: CipherEmbedding, vocabulary: Vocabulary):
        self.embedding = embedding
        self.codes, self.beta, self.noise_distribution = embedding.noisy_codes(vocabulary)
        self.blocks = embedding.vector_size // embedding.bits

    def ciphers(self, words: np.ndarray) -> np.ndarray:
        """Return the noisy ciphers of words, given by rank, (n, b) float64."""
        starts = self.codes.starts
        sizes = starts[words + 1] - starts[words]
        owners = np.repeat(np.arange(len(words)), sizes)
        within = np.arange(len(owners)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        result = np.outer(1 - self.beta[words], self.noise_distribution)
        result[owners, self.codes.bits[starts[words][owners] + within]] += (self.beta[words] / sizes)[owners]
        return result

    def block_of(self, offsets: np.ndarray) -> np.ndarray:
        """Return the block of dimensions of each offset, (n,) int64."""
        if self.blocks == 1:
            return np.zeros(len(offsets), np.int64)
        return offsets + self.embedding.window - (offsets > 0)

    def offset_of(self, block: int) -> int:
        """Return the offset of a block of dimensions, or 0 if there is one block for all offsets."""
        return 0 if self.blocks == 1 else block - self.embedding.window + int(block >= self.embedding.window)

    def transform_counts(self, counts: np.ndarray) -> np.ndarray:
        """Return the weights of the ciphers as float64: log(1 + count) if `log` is "counts", else the counts."""
        return np.log1p(counts) if self.embedding.log == "counts" else counts.astype(np.float64)

    def sums(self, row: ContextCounts) -> np.ndarray:
        """Return the product of counts and ciphers, (blocks, b) float64."""
        terms = self.transform_counts(row.counts)[:, None] * self.ciphers(row.contexts)
        result = np.zeros((self.blocks, self.embedding.bits))
        np.add.at(result, self.block_of(row.offsets), terms)
        return result

    def raw_row(self, sums: np.ndarray) -> np.ndarray:
        """Return the row of the raw table, (d,) float64, as `CipherEmbedding.table` computes it."""
        if self.embedding.log != "aggregate" or not sums.any():
            return sums.ravel()
        totals = sums.sum(axis=1, keepdims=True)
        shares = np.divide(sums, totals, out=np.full_like(sums, 1 / sums.shape[1]), where=totals > 0)
        return np.log(np.maximum(shares, SHARE_FLOOR)).ravel()
