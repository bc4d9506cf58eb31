"""A vector for a word that was never counted, from a few sentences that hold it. See the README."""

from bitcipher.infer.inference import infer

__all__ = ["infer"]
