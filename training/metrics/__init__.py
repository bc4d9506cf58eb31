"""Evaluation metrics in percent; see README.md."""
