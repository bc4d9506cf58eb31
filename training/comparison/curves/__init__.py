"""Comparison of training runs: curves of loss and perplexity, and tables; see README.md."""
