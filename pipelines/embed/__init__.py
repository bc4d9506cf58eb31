"""Embedding: vectors from the stored counts of a version."""
