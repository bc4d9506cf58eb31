"""The finished table: words, their vectors, and where they come from."""

from bitcipher.vectors.keyed import CipherVectors

__all__ = ["CipherVectors"]
