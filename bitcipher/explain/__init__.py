"""Exact contributions of context words to vectors and similarities. See the README."""
