"""Embeddings of sentences from vectors of words. See the README."""
