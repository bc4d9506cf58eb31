"""Mode spectral: factorization of weighted counts by a block Krylov method that starts from the ciphers."""

from bitcipher.embedding.spectral.in_memory_products import InMemoryProducts
from bitcipher.embedding.spectral.operand import Operand
from bitcipher.embedding.spectral.ppmi import (
    Marginals,
    WeightedRows,
    block_count,
    block_of,
    compute_marginals,
    opposite_block,
    weight_rows,
)
from bitcipher.embedding.spectral.spectral_embedding import (
    CONTEXTS,
    Landmarks,
    Products,
    SpectralEmbedding,
    Spectrum,
    check_window,
)
from bitcipher.embedding.spectral.transpose import transpose

__all__ = [
    "CONTEXTS",
    "InMemoryProducts",
    "Landmarks",
    "Marginals",
    "Operand",
    "Products",
    "SpectralEmbedding",
    "Spectrum",
    "WeightedRows",
    "block_count",
    "block_of",
    "check_window",
    "compute_marginals",
    "opposite_block",
    "transpose",
    "weight_rows",
]
