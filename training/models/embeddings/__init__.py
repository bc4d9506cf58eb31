"""Initialization of a language model's token embeddings with cipher vectors."""
