"""Sums of segments: merging, and reading the counts of a version as one."""
