"""Order of the sequences of a run: a new permutation in each epoch, computed without a table."""

from math import isqrt

import numpy as np

from training.counter_rng import derive_key, uniform

# Four rounds are indistinguishable from a random permutation, even with queries in both directions (Luby & Rackoff
# 1988). The other four rounds are for small squares, whose sides have only a few cells.
_ROUNDS = 8


class SequenceOrder:
    """Permutation of the integers below `total` for each epoch, which can be queried at any position.

    A balanced Feistel network permutes the cells of the smallest square that holds all numbers. A number outside the
    range is permuted again until it is inside ("cycle walking", Black & Rogaway 2002, "Ciphers with arbitrary finite
    domains").

    Args:
        total: number of sequences, at least 1.
        seed: seed of the order.
    """

    def __init__(self, total: int, seed: int):
        if total < 1:
            raise ValueError(f"`total` must be at least 1, got {total}.")
        self.total = total
        self._side = isqrt(total - 1) + 1
        self._keys = [derive_key(seed, "order", number) for number in range(_ROUNDS)]

    def sequence_ids(self, positions: np.ndarray) -> np.ndarray:
        """Return the sequences at positions of a run.

        Args:
            positions: [B] int64, at least 0; those of epoch e are e · total … (e + 1) · total - 1.

        Returns:
            [B] int64, below `total`.
        """
        positions = np.asarray(positions, np.int64)
        if (positions < 0).any():
            raise ValueError("`positions` must be at least 0.")
        epochs, offsets = np.divmod(positions, self.total)
        ids = self._permute(epochs, offsets)
        while len(outside := np.flatnonzero(ids >= self.total)):
            ids[outside] = self._permute(epochs[outside], ids[outside])
        return ids

    def _permute(self, epochs: np.ndarray, cells: np.ndarray) -> np.ndarray:
        left, right = np.divmod(cells, self._side)
        for key in self._keys:
            shift = (uniform(key, epochs * self._side + right, 1)[:, 0] * self._side).astype(np.int64)
            left, right = right, (left + shift) % self._side
        return left * self._side + right
