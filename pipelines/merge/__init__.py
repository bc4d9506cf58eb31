"""Sums of segments: merging, and merged counts of a version."""
