"""Synthetic scaling laws over the FLOPs of a downscaling study, with relative noise."""

from dataclasses import dataclass

import numpy as np

FLOPS = np.geomspace(1e13, 1e17, 30)


@dataclass(frozen=True)
class Truth:
    """Loss = offset + coefficient · u ** exponent, where u is FLOPs in units of 10^13; continuous at the break."""

    exponents: tuple[float, ...]
    coefficient: float
    offset: float = 0.0
    break_at: float = 0.0

    def losses(self) -> np.ndarray:
        u, knee = FLOPS / 1e13, self.break_at / 1e13
        first, last = self.exponents[0], self.exponents[-1]
        below = u**first
        above = knee ** (first - last) * u**last if knee else below
        return self.offset + self.coefficient * np.where(FLOPS < self.break_at, below, above)


TRUTHS = {
    "plain": Truth((-0.15,), 8),
    "offset": Truth((-0.2,), 6, offset=2),
    "large offset": Truth((-0.35,), 3, offset=1.5),
    "broken": Truth((-0.05, -0.14), 8, break_at=2.2e15),
    "plateau": Truth((-0.005, -0.125), 7, break_at=1e15),
    "broken with offset": Truth((-0.02, -0.25), 6, offset=1.5, break_at=1e15),
}


def noisy(name: str, noise: float, seed: int) -> np.ndarray:
    """Return the losses of a law, each with relative noise of a standard deviation."""
    errors = np.random.default_rng(seed).normal(0, noise, len(FLOPS))
    return TRUTHS[name].losses() * np.exp(errors)
