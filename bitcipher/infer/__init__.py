"""Vectors of new words from sentences that contain them. See the README."""
