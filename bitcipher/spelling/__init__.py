"""Vectors of words from their character n-grams. See the README."""
