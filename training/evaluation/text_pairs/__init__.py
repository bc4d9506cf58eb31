"""Evaluation of models that generate the targets of pairs of texts; see README.md."""
