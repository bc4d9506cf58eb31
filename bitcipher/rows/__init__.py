"""Context counts of single words, and the table rows that each mode computes from them."""

from bitcipher.rows.cipher_rows import CipherRows
from bitcipher.rows.provenance import Provenance, UnknownProvenanceError, check_counts_match, read_provenance
from bitcipher.rows.spectral_rows import SpectralRows
from bitcipher.rows.symmetric_counts import stream_marginals, symmetric_counts
from bitcipher.rows.word_rows import ContextCounts, WordRows

__all__ = [
    "CipherRows",
    "ContextCounts",
    "Provenance",
    "SpectralRows",
    "UnknownProvenanceError",
    "WordRows",
    "check_counts_match",
    "read_provenance",
    "stream_marginals",
    "symmetric_counts",
]
