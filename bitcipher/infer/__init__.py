"""Vectors of new words from sentences that contain them. See the README."""

from bitcipher.infer.inference import infer

__all__ = ["infer"]
