"""Embeddings of tokens from their bytes: a network that is trained to give the vectors of an embedding table.

See the README.
"""
