"""The finished table: words, their vectors, and where they come from."""

from bitcipher.vectors.keyed import CipherVectors
from bitcipher.vectors.nearest import WordIndex

__all__ = ["CipherVectors", "WordIndex"]
