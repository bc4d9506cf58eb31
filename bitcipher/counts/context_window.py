"""Which pairs are counted."""

from dataclasses import dataclass

import numpy as np

from bitcipher.errors import BitcipherError

MAX_WINDOW = 128  # the widest window of the paper, 2⁷


@dataclass(frozen=True)
class ContextWindow:
    """The words before and behind a word that are its context.

    Attributes:
        size: the largest offset, 1 … 128.
        summed: add all offsets up into one matrix, which is all that Sum needs, instead of one an offset.

    Raises:
        BitcipherError: if the radius is out of bounds.
    """

    size: int
    summed: bool = False

    def __post_init__(self):
        if not 1 <= self.size <= MAX_WINDOW:
            raise BitcipherError(f"`window` must be between 1 and {MAX_WINDOW}, got {self.size}.")

    @property
    def bands(self) -> np.ndarray:
        """(bands, 2) int64: first and last offset of each matrix."""
        if self.summed:
            return np.array([[1, self.size]])
        return np.repeat(np.arange(1, self.size + 1)[:, None], 2, axis=1)

    @property
    def offsets(self) -> list[int]:
        """The offsets that rows carry: 1 … radius, or 0 for all together."""
        return [0] if self.summed else list(range(1, self.size + 1))
