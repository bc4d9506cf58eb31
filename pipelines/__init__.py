"""Pipelines of bitcipher: from sources to vectors, in process or on Ray; see the README."""
