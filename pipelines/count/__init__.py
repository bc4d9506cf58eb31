"""Counting: count tasks, batches that fit in memory, and the counting stage."""
