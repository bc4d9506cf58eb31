"""From merged counts to a table of vectors: aggregation with the cipher, then refinement (SPEC 1)."""

from bitcipher.embedding.cipher_embedding import LOGS, MODES, CipherEmbedding
from bitcipher.embedding.refinement import Refinement

__all__ = ["LOGS", "MODES", "CipherEmbedding", "Refinement"]
