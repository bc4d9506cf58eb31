"""Merging of segments, and reading of merged counts."""
