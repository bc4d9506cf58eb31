"""Spectral vectors: the weighed counts factored, from the code on (SPEC 1, "Past the paper")."""

from bitcipher.embedding.spectral.in_memory_products import InMemoryProducts
from bitcipher.embedding.spectral.ppmi import Marginals, WeightedRows, add_up, block_count, mirror_of, weigh
from bitcipher.embedding.spectral.spectral_embedding import (
    CONTEXTS,
    Products,
    SpectralEmbedding,
    Spectrum,
    check_window,
)
from bitcipher.embedding.spectral.transpose import mirror

__all__ = [
    "CONTEXTS",
    "InMemoryProducts",
    "Marginals",
    "Products",
    "SpectralEmbedding",
    "Spectrum",
    "WeightedRows",
    "add_up",
    "block_count",
    "check_window",
    "mirror",
    "mirror_of",
    "weigh",
]
