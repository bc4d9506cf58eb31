"""Search over the options of a pre-training recipe, at a fixed budget per trial."""
