"""Rows of single words: what was counted around them, and what each mode makes of that."""

from bitcipher.rows.both_directions import both_directions, chosen_marginals
from bitcipher.rows.cipher_rows import CipherRows
from bitcipher.rows.origin import Origin, UnknownOriginError, check_belonging, origin_of
from bitcipher.rows.spectral_rows import SpectralRows
from bitcipher.rows.word_rows import Row, WordRows

__all__ = [
    "CipherRows",
    "Origin",
    "Row",
    "SpectralRows",
    "UnknownOriginError",
    "WordRows",
    "both_directions",
    "check_belonging",
    "chosen_marginals",
    "origin_of",
]
