"""Transformer models of the `transformers` library: build, load, save, and access parts by uniform names."""
