"""The counts of a build as an Arrow table of words and sparse co-occurrence matrices."""
