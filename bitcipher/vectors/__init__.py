"""The finished table: words, their vectors, and where they come from."""

from bitcipher.vectors.ann_index import WordIndex
from bitcipher.vectors.cipher_vectors import CipherVectors

__all__ = ["CipherVectors", "WordIndex"]
