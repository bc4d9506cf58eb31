"""`SpectralEmbedding`: the leading directions of the weighted counts of each offset and of the whole window."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
from threadpoolctl import threadpool_limits

from bitcipher.cipher import BitCipher
from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.embedding.row_blocks import ArrayRows, RowSource, finished_table, take_rows
from bitcipher.embedding.spectral.basis import Basis, symmetric_power
from bitcipher.embedding.spectral.block_krylov import combine, gram, leading_eigenvectors
from bitcipher.embedding.spectral.damping import COMMON_WORDS, damping_matrix
from bitcipher.embedding.spectral.in_memory_products import Extension, InMemoryProducts
from bitcipher.embedding.spectral.operand import Operand
from bitcipher.embedding.spectral.ppmi import Marginals
from bitcipher.errors import BitcipherError
from bitcipher.vocabulary import Vocabulary

CONTEXTS = ("both", "positions", "window")

Landmarks = int | Literal["all"]
"""A number of the most frequent words, or all words."""

# The directions are found from these rows and these context words. Vectors are as good for 5,000 to 30,000 rows and
# 20,000 to 40,000 contexts, and worse with all words (docs/quality.md).
LANDMARKS = 20_000
LANDMARK_CONTEXTS = 40_000

# Factor of the window block relative to the block of an offset, if both are used.
WINDOW_SCALE = 1.5

# Columns per product for every 50 dimensions; multiples of 16 fill vector registers. The minimum is enough for any
# vocabulary, since codes of 32 bits distinguish four billion words.
COLUMNS_PER_50_DIMENSIONS = 16
MIN_COLUMNS = 32

# Number of products with the matrix in the block Krylov method.
PRODUCTS = 7

# Exponent of the singular values. 0 and 1/2 give no better vectors (docs/quality.md).
VALUE_EXPONENT = 0.25

# Exponent of the eigenvalues of MMᵀ in the factor of MMᵀ · directions.
POWER = VALUE_EXPONENT / 2 - 1


def columns_per_product(vector_size: int) -> int:
    """Return the number of columns that the matrix is multiplied by at once."""
    return max(MIN_COLUMNS, COLUMNS_PER_50_DIMENSIONS * -(-vector_size // 50))


def check_window(context_window: ContextWindow, window: int | None) -> int:
    """Return the window to use, by default that of the counts.

    Raises:
        BitcipherError: if the counts do not support `window`.
    """
    if window is None or window == context_window.size:
        return context_window.size
    if context_window.summed or not 1 <= window < context_window.size:
        counted = "are summed over" if context_window.summed else "have"
        raise BitcipherError(
            f"The counts {counted} a window of {context_window.size} and do not support a window of {window}: build "
            "again with that window."
        )
    return window


class Products(Protocol):
    """Interface of products with the matrix M of weighted counts, which are computed in memory or by workers.

    M has one row per word and consists of blocks Mⱼ of columns: one block per offset, and one for the whole window (see
    `bitcipher.embedding.spectral.ppmi`). A block has a column per context word. The words of the first columns are the
    landmarks. The transpose of a block has the same pairs as the block of the opposite offset. All methods can
    therefore compute each row of their result from the pairs of one word, in a fixed order.
    """

    @property
    def marginals(self) -> Marginals:
        """Number of pairs of each word, by which the counts were weighted."""
        ...

    def project(self, table: np.ndarray, scales: np.ndarray, landmarks: int) -> np.ndarray:
        """Return the rows of the landmarks of Σⱼ scaleⱼ · Mⱼ · table over the blocks j, (landmarks, b) float32.

        Args:
            table: (contexts, b) float32.
            scales: (blocks,) factor of each block.
            landmarks: number of landmarks.
        """
        ...

    def gram_product(self, table: np.ndarray, scales: np.ndarray) -> np.ndarray:
        """Return Σⱼ scaleⱼ · Mⱼ · Mⱼᵀ · table over the blocks j, for the rows of the landmarks of Mⱼ.

        Args:
            table: (landmarks, b) float32.
            scales: (blocks,) factor of each block.

        Returns:
            (landmarks, b) float32.
        """
        ...

    def context_vectors(self, table: np.ndarray, scales: np.ndarray) -> Mapping[int, Operand]:
        """Return scaleⱼ · Lⱼᵀ · table for each block j with a scale above 0, (contexts, b), rounded to 16 bits.

        The arguments are those of `gram_product`. Lⱼ are the rows of the landmarks of Mⱼ.
        """
        ...

    def extend(self, table: np.ndarray, scales: np.ndarray) -> Extension:
        """Return Σⱼ scaleⱼ · Mⱼ · Lⱼᵀ · table, and the context vectors.

        The arguments are those of `gram_product`, whose result has the rows of the landmarks.
        """
        ...


@dataclass(frozen=True)
class UnitRows:
    """Function that makes vectors of length 1 from blocks of images. Rows of zeros stay zeros.

    Attributes:
        factors: (d, d) matrices that the images are multiplied by, one after the other.
    """

    factors: tuple[np.ndarray, ...]

    def __call__(self, images: np.ndarray) -> np.ndarray:
        """Return the vectors of a block of images, (n, d) float32."""
        rows = self.scale(images)
        norms = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))[:, None]
        return np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0, casting="same_kind")

    def scale(self, images: np.ndarray) -> np.ndarray:
        """Return the raw rows of a block of images, (n, d) float32."""
        for factor in self.factors:
            images = combine(images, factor)
        return images


class Spectrum(NamedTuple):
    """A factorization of the weighted counts.

    Attributes:
        images: (N, d) float32, M times the vectors of the contexts, before they are scaled.
        rows: the function that makes the vectors from the images.
        basis: the directions. Lᵀ times the scaled directions are the vectors of the contexts, with L for the rows of
            the landmarks of M.
        residual: part of the image of the basis that is outside of the basis, 0 to 1: how much a kept basis misses of
            the leading directions. 0 for a fresh factorization.
        contexts: the vectors of the contexts before they are scaled, times scaleⱼ, for each block j; see
            `Products.context_vectors`.
        marginals: number of pairs of each word.
    """

    images: RowSource
    rows: UnitRows
    basis: Basis
    residual: float
    contexts: Mapping[int, Operand]
    marginals: Marginals

    @property
    def table(self) -> np.ndarray:
        """The raw table in memory, (N, d) float32: M times the scaled vectors of the contexts."""
        return finished_table(self.images, self.rows.scale)

    def rotate(self, rotation: np.ndarray) -> "Spectrum":
        """Return the same factorization in other axes, given an orthogonal matrix, (d, d)."""
        rows = UnitRows((*self.rows.factors, rotation))
        return self._replace(rows=rows, basis=self.basis.rotate(rotation))


class SpectralEmbedding:
    """Embedding of mode spectral: a factorization of weighted counts by block Krylov iteration from the ciphers.

    The directions are found from the rows of the landmarks, the most frequent words. The vector of each word is the
    product of its row with the vectors of the contexts, so the size of the factorization does not grow with the
    vocabulary.

    Args:
        vector_size: number of dimensions.
        context: counts that are factorized: "positions", those of each offset; "window", the sums over all offsets; or
            "both".
        landmarks: number of landmarks, or "all".
        landmark_contexts: number of the most frequent words that are context words, or "all".

    Raises:
        BitcipherError: if a value is invalid.
    """

    def __init__(
        self,
        vector_size: int = 200,
        context: str = "both",
        landmarks: Landmarks = LANDMARKS,
        landmark_contexts: Landmarks = LANDMARK_CONTEXTS,
    ):
        if vector_size < 1:
            raise BitcipherError(f"`vector_size` must be at least 1, got {vector_size}.")
        if context not in CONTEXTS:
            raise BitcipherError(f"There is no context {context!r}: choose from {', '.join(CONTEXTS)}.")
        for name, value in (("landmarks", landmarks), ("landmark_contexts", landmark_contexts)):
            if value != "all" and (isinstance(value, str) or value < 1):
                raise BitcipherError(f'`{name}` must be at least 1 or "all", got {value!r}.')
        self.vector_size = vector_size
        self.context = context
        self.landmarks: Landmarks = landmarks
        self.landmark_contexts: Landmarks = landmark_contexts

    def rows(self, words: int) -> int:
        """Return the number of landmarks in a vocabulary of `words`."""
        return _limit(self.landmarks, words)

    def contexts(self, words: int) -> int:
        """Return the number of context words in a vocabulary of `words`: at least the number of landmarks."""
        return max(self.rows(words), _limit(self.landmark_contexts, words))

    def columns(self, words: int) -> np.ndarray:
        """Return the column of each word as a context word, by rank, or -1 for other words, (words,) int32."""
        ranks = np.arange(words, dtype=np.int32)
        return np.where(ranks < self.contexts(words), ranks, np.int32(-1))

    def table(self, counts: MergedCounts, window: int | None = None, threads: int = 1) -> Spectrum:
        """Return the factorization of counts that fit into memory. It takes about 66 bytes per counted pair.

        Args:
            counts: counts of a corpus.
            window: the largest offset of a context word, by default that of the counts.
            threads: number of threads. The result does not depend on it.

        Raises:
            BitcipherError: if the counts do not support `window`.
        """
        words, window = len(counts.vocabulary), check_window(counts.context_window, window)
        products = InMemoryProducts.from_counts(counts, window, self.columns(words), threads)
        return self.factor(products, counts.vocabulary, products.blocks)

    def scales(self, blocks: int) -> np.ndarray:
        """Return the factor of each block j in Σⱼ scaleⱼ · Mⱼ · Mⱼᵀ, (blocks,) float32."""
        scales = np.full(blocks, 0 if self.context == "window" else 1, np.float32)
        scales[-1] = {"positions": 0, "window": 1, "both": WINDOW_SCALE**2}[self.context]
        return scales

    @threadpool_limits.wrap(limits=1)
    def factor(self, products: Products, vocabulary: Vocabulary, blocks: int) -> Spectrum:
        """Return a fresh factorization from products with the weighted counts.

        Args:
            products: products with the weighted counts M, whose columns are those of `columns`.
            vocabulary: words of the counts.
            blocks: number of blocks of M: one per offset, and one for the whole window.
        """
        words, scales = len(vocabulary), self.scales(blocks)
        landmarks, bits = self.rows(words), columns_per_product(self.vector_size)
        # In a small vocabulary, the projected ciphers can lie in an invariant subspace of MMᵀ, which the iteration
        # cannot leave. The columns of the identity matrix span all directions.
        if landmarks <= bits:
            start = np.eye(landmarks, dtype=np.float32)
        else:
            code = BitCipher(bits).encipher(self.contexts(words)).toarray().astype(np.float32)
            start = products.project(code, scales, landmarks)
        directions, images, values = leading_eigenvectors(
            lambda table: products.gram_product(table, scales), start, PRODUCTS, self.vector_size
        )
        if landmarks < words:
            extension = products.extend(directions, scales)
        else:
            rows = ArrayRows(images * values.astype(np.float32))
            extension = Extension(rows, products.context_vectors(directions, scales))
        contexts = vocabulary.words.slice(0, self.contexts(words))
        return _make_spectrum(extension, products, contexts, directions, np.diag(values**POWER), 0.0)

    @threadpool_limits.wrap(limits=1)
    def factor_in_basis(self, products: Products, vocabulary: Vocabulary, blocks: int, basis: Basis) -> Spectrum:
        """Return the factorization of the weighted counts within the directions of an earlier one.

        Args:
            products: products with the weighted counts M, whose columns are those of the basis.
            vocabulary: words of the counts.
            blocks: number of blocks of M.
            basis: the directions to keep.
        """
        columns = basis.columns(vocabulary)
        directions = basis.directions_for(columns)
        extension = products.extend(directions, self.scales(blocks))
        landmarks = np.zeros_like(directions)
        ranks = np.flatnonzero((0 <= columns) & (columns < len(directions)))
        landmarks[columns[ranks]] = take_rows(extension.rows, ranks)
        projected = gram(directions, landmarks)
        missed = landmarks - combine(directions, projected)
        residual = float(np.sqrt(_squares(missed) / max(_squares(landmarks), np.finfo(float).tiny)))
        power = symmetric_power(projected, POWER)
        return _make_spectrum(extension, products, basis.contexts, directions, power, residual)


def _make_spectrum(
    extension: Extension,
    products: Products,
    contexts: pa.LargeStringArray,
    directions: np.ndarray,
    power: np.ndarray,
    residual: float,
) -> Spectrum:
    """Return the spectrum with damped directions.

    Args:
        extension: the rows of all words of MLᵀ · directions, and the context vectors.
        products: the products that computed them.
        contexts: (C,) the context words.
        directions: (landmarks, d) float32, orthonormal columns.
        power: (d, d), the matrix that the images are multiplied by before damping.
        residual: see `Spectrum`.
    """
    images = extension.rows
    common = images.read(0, min(COMMON_WORDS, images.shape[0]))
    scaling = power @ damping_matrix(combine(common, power))
    basis = Basis(contexts, directions, scaling)
    return Spectrum(images, UnitRows((scaling,)), basis, residual, extension.contexts, products.marginals)


def _squares(table: np.ndarray) -> float:
    """Return the sum of the squares of all values, added up in a fixed order."""
    return float(np.trace(gram(table, table)))


def _limit(landmarks: Landmarks, words: int) -> int:
    return words if landmarks == "all" else min(landmarks, words)
