"""bitcipher: exact, explainable, addable word vectors. See the README."""

from bitcipher.cipher import BitCipher
from bitcipher.embedding import CipherEmbedding, Refinement
from bitcipher.errors import BitcipherError, UnknownWordError
from bitcipher.vectors import CipherVectors
from bitcipher.vocabulary import OOV, Vocabulary

__version__ = "0.1.0"

__all__ = [
    "OOV",
    "BitCipher",
    "BitcipherError",
    "CipherEmbedding",
    "CipherVectors",
    "Refinement",
    "UnknownWordError",
    "Vocabulary",
]
