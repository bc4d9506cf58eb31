"""Order of the sequences of a run: a new permutation in each epoch, computed without a table."""

from math import isqrt

import numpy as np

from training.data.counter_rng import derive_key, uniform

# Rounds of the Feistel network. Four rounds are indistinguishable from a random permutation, even with queries of its
# inverse (Luby & Rackoff 1988). The other four rounds are for small numbers of sequences, for which four are too few.
_ROUNDS = 8


class SequenceOrder:
    """Random order of the sequences, with a new permutation in each epoch. Any position can be queried.

    A balanced Feistel network permutes the integers below the smallest square number that is at least `total`. A result
    that is not below `total` is permuted again until it is ("cycle walking", Black & Rogaway 2002, "Ciphers with
    arbitrary finite domains").

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
        """Return the ids of the sequences at positions of a run.

        Args:
            positions: [B] int64, at least 0. Epoch e has the positions e · total to (e + 1) · total - 1.

        Returns:
            [B] int64, from 0 to `total` - 1.
        """
        positions = np.asarray(positions, np.int64)
        if (positions < 0).any():
            raise ValueError("`positions` must be at least 0.")
        epochs, offsets = np.divmod(positions, self.total)
        ids = self._permute(epochs, offsets)
        while len(outside := np.flatnonzero(ids >= self.total)):
            ids[outside] = self._permute(epochs[outside], ids[outside])
        return ids

    def _permute(self, epochs: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        left, right = np.divmod(numbers, self._side)
        for key in self._keys:
            shift = (uniform(key, epochs * self._side + right, 1)[:, 0] * self._side).astype(np.int64)
            left, right = right, (left + shift) % self._side
        return left * self._side + right
