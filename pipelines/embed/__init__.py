"""Embedding of stored counts."""
