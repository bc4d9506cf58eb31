"""Comparison of training runs: curves, scores of models, and tables."""
