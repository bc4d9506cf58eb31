"""Tokenizers, which convert documents to token ids."""
