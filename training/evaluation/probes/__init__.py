"""Probes: part-of-speech and entity classifiers that see one word vector at a time."""
