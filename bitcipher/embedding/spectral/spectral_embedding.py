"""`SpectralEmbedding`: the leading directions of the weighted counts of each offset and of the whole window."""

from typing import NamedTuple, Protocol

import numpy as np
from threadpoolctl import threadpool_limits

from bitcipher.cipher import BitCipher
from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.embedding.spectral.block_krylov import combine, leading_eigenvectors
from bitcipher.embedding.spectral.damping import damping_matrix
from bitcipher.embedding.spectral.in_memory_products import InMemoryProducts
from bitcipher.errors import BitcipherError

CONTEXTS = ("both", "positions", "window")

# Factor of the window block relative to the block of an offset, if both are used.
WINDOW_SCALE = 1.5

# Columns per product for every 50 dimensions; multiples of 16 fill vector registers. The minimum is enough for any
# vocabulary, since codes of 32 bits distinguish four billion words.
COLUMNS_PER_50_DIMENSIONS = 16
MIN_COLUMNS = 32

# Number of products with the matrix in the block Krylov method.
PRODUCTS = 7

# Exponent of the singular values. 0 and 1/2 give no better vectors (bitcipher/evaluation/README.md).
VALUE_EXPONENT = 0.25


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
    `bitcipher.embedding.spectral.ppmi`). The transpose of a block has the same pairs as the block of the opposite
    offset. Both methods can therefore compute each row of their result from the pairs of one word, in a fixed order.
    """

    def project(self, table: np.ndarray, scales: np.ndarray) -> np.ndarray:
        """Return Σⱼ scaleⱼ · Mⱼ · table over the blocks j, (N, b) float32.

        Args:
            table: (N, b) float32.
            scales: (blocks,) factor of each block.
        """
        ...

    def gram_product(self, table: np.ndarray, scales: np.ndarray) -> np.ndarray:
        """Return Σⱼ scaleⱼ · Mⱼ · Mⱼᵀ · table over the blocks j, (N, b) float32, for the arguments of `project`."""
        ...


class Spectrum(NamedTuple):
    """A factorization of the weighted counts.

    Attributes:
        table: (N, d) float32, the raw table: M times the vectors of the contexts.
        directions: (N, d) float32. Mᵀ times the directions are the vectors of the contexts.
    """

    table: np.ndarray
    directions: np.ndarray


class SpectralEmbedding:
    """Embedding of mode spectral: a factorization of weighted counts by block Krylov iteration from the ciphers.

    Args:
        vector_size: number of dimensions.
        context: counts that are factorized: "positions", those of each offset; "window", the sums over all offsets; or
            "both".

    Raises:
        BitcipherError: if a value is invalid.
    """

    def __init__(self, vector_size: int = 200, context: str = "both"):
        if vector_size < 1:
            raise BitcipherError(f"`vector_size` must be at least 1, got {vector_size}.")
        if context not in CONTEXTS:
            raise BitcipherError(f"There is no context {context!r}: choose from {', '.join(CONTEXTS)}.")
        self.vector_size = vector_size
        self.context = context

    def table(self, counts: MergedCounts, window: int | None = None) -> Spectrum:
        """Return the factorization of counts that fit into memory. It takes about 112 bytes per counted pair.

        Args:
            counts: counts of a corpus.
            window: the largest offset of a context word, by default that of the counts.

        Raises:
            BitcipherError: if the counts do not support `window`.
        """
        products = InMemoryProducts.from_counts(counts, check_window(counts.context_window, window))
        return self.factor(products, len(counts.vocabulary), products.blocks)

    def scales(self, blocks: int) -> np.ndarray:
        """Return the factor of each block j in Σⱼ scaleⱼ · Mⱼ · Mⱼᵀ, (blocks,) float32."""
        scales = np.full(blocks, 0 if self.context == "window" else 1, np.float32)
        scales[-1] = {"positions": 0, "window": 1, "both": WINDOW_SCALE**2}[self.context]
        return scales

    @threadpool_limits.wrap(limits=1)
    def factor(self, products: Products, words: int, blocks: int) -> Spectrum:
        """Return the factorization from products with the weighted counts.

        Args:
            products: products with the weighted counts M.
            words: number of words.
            blocks: number of blocks of M: one per offset, and one for the whole window.
        """
        scales = self.scales(blocks)
        code = BitCipher(columns_per_product(self.vector_size)).encipher(words).toarray().astype(np.float32)
        # In a small vocabulary, the projected ciphers can lie in an invariant subspace of MMᵀ, which the iteration
        # cannot leave. The columns of the identity matrix span all directions.
        is_small = words <= code.shape[1]
        start = np.eye(words, dtype=np.float32) if is_small else products.project(code, scales)
        directions, images, values = leading_eigenvectors(
            lambda table: products.gram_product(table, scales), start, PRODUCTS, self.vector_size
        )
        roots = values ** (VALUE_EXPONENT / 2)
        table = images * roots.astype(np.float32)
        damping = damping_matrix(table)
        return Spectrum(combine(table, damping), combine(directions, (roots / values)[:, None] * damping))
