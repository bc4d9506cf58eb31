"""`CipherVectors`: word vectors with gensim's methods, and `WordIndex` for approximate neighbor search."""

from bitcipher.vectors.ann_index import WordIndex
from bitcipher.vectors.cipher_vectors import CipherVectors

__all__ = ["CipherVectors", "WordIndex"]
