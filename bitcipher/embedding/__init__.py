"""Vectors from merged counts: products of counts and ciphers, then refinement (whitening, centering, unit length)."""

from bitcipher.embedding.cipher_embedding import LOGS, MODES, CipherEmbedding
from bitcipher.embedding.refinement import Refinement

__all__ = ["LOGS", "MODES", "CipherEmbedding", "Refinement"]
