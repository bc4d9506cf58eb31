"""Vectors from merged counts: products with the ciphers, then refinement."""

from bitcipher.embedding.cipher_embedding import LOGS, MODES, CipherEmbedding
from bitcipher.embedding.refinement import Refinement

__all__ = ["LOGS", "MODES", "CipherEmbedding", "Refinement"]
