"""In which order a run sees its sequences: shuffled anew each epoch, without a table."""

from math import isqrt

import numpy as np

from training.counter_rng import key_of, uniforms

# Luby & Rackoff (1988) show that four rounds cannot be told from chance by one who asks for pairs forward and back; the
# others are for small squares, whose sides have only a few cells.
_ROUNDS = 8


class Order:
    """A permutation of all numbers below `total` for each epoch, which any worker can ask at any position.

    A balanced Feistel network permutes the cells of a square, the smallest that holds them all; a number that leaves
    the range is permuted again until it is back ("cycle walking", Black & Rogaway 2002, "Ciphers with arbitrary finite
    domains").

    Args:
        total: how many sequences there are, 1 or more.
        seed: another seed gives another order.
    """

    def __init__(self, total: int, seed: int):
        if total < 1:
            raise ValueError(f"An order needs 1 sequence or more, not {total}.")
        self.total = total
        self._side = isqrt(total - 1) + 1
        self._keys = [key_of(seed, "order", number) for number in range(_ROUNDS)]

    def numbers(self, positions: np.ndarray) -> np.ndarray:
        """Which sequences stand at positions of a run.

        Args:
            positions: [B], int64, 0 or more; those of epoch e are e · total … (e + 1) · total − 1.

        Returns:
            [B], int64, below `total`.
        """
        positions = np.asarray(positions, np.int64)
        if (positions < 0).any():
            raise ValueError("Positions are 0 or more.")
        epochs, within = np.divmod(positions, self.total)
        numbers = self._permute(epochs, within)
        while len(outside := np.flatnonzero(numbers >= self.total)):
            numbers[outside] = self._permute(epochs[outside], numbers[outside])
        return numbers

    def _permute(self, epochs: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        left, right = np.divmod(numbers, self._side)
        for key in self._keys:
            drawn = (uniforms(key, epochs * self._side + right, 1)[:, 0] * self._side).astype(np.int64)
            left, right = right, (left + drawn) % self._side
        return left * self._side + right
