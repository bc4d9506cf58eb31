"""Vectors of words from their character n-grams. See the README."""

from bitcipher.spelling.spelling import FIT_WORDS, NgramPart, Spelling

__all__ = ["FIT_WORDS", "NgramPart", "Spelling"]
