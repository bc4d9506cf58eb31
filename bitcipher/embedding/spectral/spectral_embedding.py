"""The spectral table: the leading directions of the weighed counts, positions and window side by side (SPEC 1)."""

from typing import NamedTuple, Protocol

import numpy as np
from threadpoolctl import threadpool_limits

from bitcipher.cipher import BitCipher
from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.embedding.spectral.block_krylov import combine, leading_eigenvectors
from bitcipher.embedding.spectral.damping import damping
from bitcipher.embedding.spectral.in_memory_products import InMemoryProducts
from bitcipher.errors import BitcipherError

CONTEXTS = ("both", "positions", "window")

# What the window counts beside one offset, where both are taken.
WINDOW_SCALE = 1.5

# Columns that are multiplied at a time, for each 50 dimensions: whole registers of a processor. At least so many, for
# codes of as many bits are enough for four billion words.
COLUMNS_OF_50 = 16
FEWEST_COLUMNS = 32

# How many times they are multiplied.
PRODUCTS = 7

# The exponent of the singular values, SPEC 1.
VALUE_EXPONENT = 0.25


def columns_at_once(vector_size: int) -> int:
    """How many columns each product has."""
    return max(FEWEST_COLUMNS, COLUMNS_OF_50 * -(-vector_size // 50))


def check_window(context_window: ContextWindow, window: int | None) -> int:
    """The radius to take of a window.

    Raises:
        BitcipherError: if it was not counted.
    """
    if window is None or window == context_window.size:
        return context_window.size
    if context_window.summed or not 1 <= window < context_window.size:
        counted = "are summed over" if context_window.summed else "have"
        raise BitcipherError(
            f"The counts {counted} a window of {context_window.size} and cannot give a window of {window}: build again."
        )
    return window


class Products(Protocol):
    """The weighed counts M as far as it takes to factor them; who has them decides where that is done.

    M has a row a word and a column a (block, context). The rows of a block's transpose hold the pairs of its mirror,
    for C₋ₒ = Cₒᵀ, so either product adds up rows, each in the order of its own pairs.
    """

    def around(self, table: np.ndarray, scales: np.ndarray) -> np.ndarray:
        """M times a table, (N, b) float32, under every block, each block times its scale: (N, b) float32."""

    def multiply(self, table: np.ndarray, scales: np.ndarray) -> np.ndarray:
        """MMᵀ times a table, likewise."""


class Spectrum(NamedTuple):
    """A factored table.

    Attributes:
        table: (N, d) float32, the raw table: `M @ contexts`.
        directions: (N, d) float32, what the columns of `contexts` are made of: Mᵀ @ directions.
    """

    table: np.ndarray
    directions: np.ndarray


class SpectralEmbedding:
    """Factors weighed counts, starting from the code.

    Args:
        vector_size: of the vectors.
        context: "positions", a block of contexts for each offset; "window", all offsets added up; "both" side by side.

    Raises:
        BitcipherError: if a value is none of these.
    """

    def __init__(self, vector_size: int = 200, context: str = "both"):
        if vector_size < 1:
            raise BitcipherError(f"There must be at least 1 dimension, not {vector_size}.")
        if context not in CONTEXTS:
            raise BitcipherError(f"There is no context {context!r}: choose {', '.join(CONTEXTS)}.")
        self.vector_size = vector_size
        self.context = context

    def table(self, counts: MergedCounts, window: int | None = None) -> Spectrum:
        """The table of counts that fit into memory, with about 112 bytes a pair that was counted.

        Args:
            counts: of a corpus.
            window: the largest offset that is context; that of the counts if not given.
        """
        rows = InMemoryProducts.of(counts, check_window(counts.context_window, window))
        return self.factor(rows, len(counts.vocabulary), rows.blocks)

    def scales(self, blocks: int) -> np.ndarray:
        """What each block counts in MMᵀ, (blocks,) float32."""
        scales = np.full(blocks, 0 if self.context == "window" else 1, np.float32)
        scales[-1] = {"positions": 0, "window": 1, "both": WINDOW_SCALE**2}[self.context]
        return scales

    @threadpool_limits.wrap(limits=1)
    def factor(self, products: Products, words: int, blocks: int) -> Spectrum:
        """The table of `words` words, from products with their weighed counts of so many blocks."""
        scales = self.scales(blocks)
        code = BitCipher(columns_at_once(self.vector_size)).encipher(words).toarray().astype(np.float32)
        # A product may lie in a part that MMᵀ never leaves, where words are interchangeable; as many columns as words
        # hold every direction.
        few = words <= code.shape[1]
        start = np.eye(words, dtype=np.float32) if few else products.around(code, scales)
        found = leading_eigenvectors(lambda table: products.multiply(table, scales), start, PRODUCTS, self.vector_size)
        roots = found.values ** (VALUE_EXPONENT / 2)
        table = found.images * roots.astype(np.float32)
        damped = damping(table)
        return Spectrum(combine(table, damped), combine(found.directions, (roots / found.values)[:, None] * damped))
