"""Errors of training that callers handle."""

from bitcipher.errors import BitcipherError


class DivergenceError(BitcipherError):
    """Raised if a loss, a gradient, a weight or an output of a model is not finite. Its training cannot recover."""
