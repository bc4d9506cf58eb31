"""Sums of segments, written as new segments, and the choice of the vocabulary."""
