"""Spectral vectors: the weighed counts factored, from the code on (SPEC 1, "Past the paper")."""

from bitcipher.embedding.spectral.mirror import mirror
from bitcipher.embedding.spectral.rows_in_memory import RowsInMemory
from bitcipher.embedding.spectral.spectral_embedding import (
    CONTEXTS,
    Products,
    SpectralEmbedding,
    Spectrum,
    check_radius,
)
from bitcipher.embedding.spectral.weighing import Marginals, WeighedRows, add_up, block_count, mirror_of, weigh

__all__ = [
    "CONTEXTS",
    "Marginals",
    "Products",
    "RowsInMemory",
    "SpectralEmbedding",
    "Spectrum",
    "WeighedRows",
    "add_up",
    "block_count",
    "check_radius",
    "mirror",
    "mirror_of",
    "weigh",
]
