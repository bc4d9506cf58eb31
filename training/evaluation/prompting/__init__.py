"""Evaluation of language models by prompts for the labels of texts, with and without examples; see README.md."""
