"""Scaling analysis of small language models: model shapes, their costs, and power laws; see README.md."""
