"""Which pairs are counted."""

from dataclasses import dataclass

import numpy as np

from bitcipher.errors import BitcipherError

MAX_RADIUS = 128  # the widest window of the paper, 2⁷


@dataclass(frozen=True)
class Window:
    """The words before and behind a word that are its context.

    Attributes:
        radius: the largest offset, 1 … 128.
        summed: add all offsets up into one matrix, which is all that Sum needs, instead of one an offset.

    Raises:
        BitcipherError: if the radius is out of bounds.
    """

    radius: int
    summed: bool = False

    def __post_init__(self):
        if not 1 <= self.radius <= MAX_RADIUS:
            raise BitcipherError(f"The radius must be from 1 to {MAX_RADIUS}, not {self.radius}.")

    @property
    def bands(self) -> np.ndarray:
        """(bands, 2) int64: first and last offset of each matrix."""
        if self.summed:
            return np.array([[1, self.radius]])
        return np.repeat(np.arange(1, self.radius + 1)[:, None], 2, axis=1)

    @property
    def offsets(self) -> list[int]:
        """The offsets that rows carry: 1 … radius, or 0 for all together."""
        return [0] if self.summed else list(range(1, self.radius + 1))
