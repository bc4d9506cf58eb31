"""`ContextWindow`: the offsets of counted pairs."""

from dataclasses import dataclass

import numpy as np

from bitcipher.errors import BitcipherError

MAX_WINDOW = 128  # the largest radius of Zhao & Williams (2023), 2⁷


@dataclass(frozen=True)
class ContextWindow:
    """Context of a word: the words up to `size` positions before and after it.

    Attributes:
        size: the largest offset, 1 … 128 (the radius of Zhao & Williams 2023).
        summed: whether to add up the counts of all offsets, which is enough for mode sum, instead of counting the pairs
            of each offset separately.

    Raises:
        BitcipherError: if the size is out of bounds.
    """

    size: int
    summed: bool = False

    def __post_init__(self):
        if not 1 <= self.size <= MAX_WINDOW:
            raise BitcipherError(f"`window` must be between 1 and {MAX_WINDOW}, got {self.size}.")

    @property
    def bands(self) -> np.ndarray:
        """First and last offset of each band, a range of offsets that are counted together, (bands, 2) int64."""
        if self.summed:
            return np.array([[1, self.size]])
        return np.repeat(np.arange(1, self.size + 1)[:, None], 2, axis=1)

    @property
    def offsets(self) -> list[int]:
        """Offset that pairs of each band are stored with: 1 … size, or 0 for the sum over all offsets."""
        return [0] if self.summed else list(range(1, self.size + 1))
