"""Vectors from merged counts: products of counts and ciphers, then refinement (whitening, centering, unit length)."""
