"""Sums of segments: written as new segments, or computed while they are read."""
