"""Rows of single words: what was counted around them, and what each mode makes of that."""

from bitcipher.rows.cipher_rows import CipherRows
from bitcipher.rows.provenance import Provenance, UnknownProvenanceError, check_belonging, provenance_of
from bitcipher.rows.spectral_rows import SpectralRows
from bitcipher.rows.symmetric_counts import chosen_marginals, symmetric_counts
from bitcipher.rows.word_rows import Row, WordRows

__all__ = [
    "CipherRows",
    "Provenance",
    "Row",
    "SpectralRows",
    "UnknownProvenanceError",
    "WordRows",
    "check_belonging",
    "chosen_marginals",
    "provenance_of",
    "symmetric_counts",
]
