"""Build jobs: counting, merging, embedding, publishing and pruning of versions."""
