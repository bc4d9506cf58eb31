"""Power laws y = E + C · xᵉ, with or without an offset E and a break (Deshpande et al. 2023, section 5.1).

The offset is the irreducible loss (Hoffmann et al. 2022, section 3.3), and 0 in the laws of Deshpande et al. A break is
a value of x below and above which two different power laws are fitted; both have the same offset.
"""

from dataclasses import dataclass

import numpy as np

from bitcipher.errors import BitcipherError
from training.studies.downscaling.scaling.checks import Numbers, check_lengths, check_positive
from training.studies.downscaling.scaling.least_squares import MAX_LOG, Curve, fit_curves, squared_error

# Minimum number of points of a fit: one more than the parameters of a power law without offset, which are two.
MIN_POINTS = 3
# Minimum number of points on each side of a break. With fewer, noise alone would place a break near an end.
MIN_POINTS_PER_SIDE = 4


@dataclass(frozen=True)
class PowerLaw:
    """Power law y = offset + coefficient · x ** exponent."""

    coefficient: float
    """Factor C, y minus the offset at x = 1."""
    exponent: float
    """Exponent e."""
    r_squared: float
    """Coefficient of determination in y: 1 for a perfect fit; 0 if the curve is as good as the mean of y, or if all y
    are equal; below 0 if the curve is worse than the mean."""
    offset: float = 0.0
    """Offset E, at least 0: the irreducible loss, which remains for infinite x if the exponent is below 0."""

    def at(self, x: Numbers) -> np.ndarray:
        """Return y for each x above 0, (N,) float64."""
        return self.offset + Curve(float(np.log(self.coefficient)), self.exponent).at(np.asarray(x, np.float64))


@dataclass(frozen=True)
class BrokenPowerLaw:
    """Two power laws with the same offset, one below and one above a break."""

    break_at: float
    """The x of the break: the geometric mean of the largest x below it and the smallest x above it."""
    below: PowerLaw
    """Power law of the points below the break."""
    above: PowerLaw
    """Power law of the points above the break."""

    def at(self, x: Numbers) -> np.ndarray:
        """Return y for each x above 0, (N,) float64."""
        xs = np.asarray(x, np.float64)
        return np.where(xs < self.break_at, self.below.at(xs), self.above.at(xs))


def fit_power_law(x: Numbers, y: Numbers, offset: bool = False) -> PowerLaw:
    """Return the power law of least squared error in y, fitted by SciPy's Levenberg-Marquardt as by Deshpande et al.

    Args:
        x: (N,) x of each point, such as FLOPs, of any magnitude.
        y: (N,) y of each point, such as losses.
        offset: whether to fit an offset too. It is 0 if an offset above 0 gives no smaller error.

    Raises:
        BitcipherError: if there are fewer than three points (four with an offset), all x are equal, or a number is not
            finite or not above 0.
    """
    xs, ys = check_points(x, y, MIN_POINTS + offset)
    return _laws([(xs, ys)], offset)[0]


def fit_broken(x: Numbers, y: Numbers, min_points: int = MIN_POINTS_PER_SIDE, offset: bool = False) -> BrokenPowerLaw:
    """Return the two power laws on either side of a break that minimize the total squared error in y.

    All breaks between two different x are tried. Two power laws always fit at least as well as one; `select_law` says
    whether the points ask for them.

    Args:
        x: (N,) x of each point, in any order.
        y: (N,) y of each point.
        min_points: minimum number of points per side, at least three.
        offset: whether to fit an offset too, which both laws share.

    Raises:
        BitcipherError: if there are too few points, if every break leaves too few different x on one side, or if a
            number is not finite or not above 0.
    """
    if min_points < MIN_POINTS:
        raise BitcipherError(f"`min_points` must be at least {MIN_POINTS}, got {min_points}.")
    xs, ys = check_points(x, y, 2 * min_points)
    order = np.argsort(xs, kind="stable")
    xs, ys = xs[order], ys[order]
    breaks = [
        index
        for index in range(min_points, len(xs) - min_points + 1)
        if xs[0] < xs[index - 1] < xs[index] < xs[-1]  # two different x on each side, and no x on both sides
    ]
    if not breaks:
        raise BitcipherError("There are too few different x for a break; measure at more of them.")
    sides = {index: [(xs[:index], ys[:index]), (xs[index:], ys[index:])] for index in breaks}
    best = min(breaks, key=lambda index: squared_error(sides[index], *fit_curves(sides[index], offset)))
    break_at = float(np.exp((np.log(xs[best - 1]) + np.log(xs[best])) / 2))
    return BrokenPowerLaw(break_at, *_laws(sides[best], offset))


def check_points(x: Numbers, y: Numbers, min_points: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the coordinates of points as float64 arrays, (N,) each.

    Raises:
        BitcipherError: if there are fewer than `min_points`, all x are equal, or a number is not finite or not above 0.
    """
    xs, ys = check_positive("x", x), check_positive("y", y)
    check_lengths(("x", xs), ("y", ys), min_points=min_points)
    if np.ptp(xs) == 0:
        raise BitcipherError(f"All {len(xs)} x are {xs[0]}; a power law needs at least two different values.")
    return xs, ys


def _laws(sides: list[tuple[np.ndarray, np.ndarray]], with_offset: bool) -> list[PowerLaw]:
    offset, curves = fit_curves(sides, with_offset)
    for curve in curves:
        if abs(curve.log_coefficient) > MAX_LOG:
            raise BitcipherError(
                f"With an exponent of {curve.exponent:.4g}, the coefficient exceeds the range of float64; give x in "
                "larger units, or points that are further apart."
            )
    return [
        PowerLaw(
            float(np.exp(curve.log_coefficient)), curve.exponent, _r_squared(ys, offset + curve.at(xs)), float(offset)
        )
        for (xs, ys), curve in zip(sides, curves, strict=True)
    ]


def _r_squared(ys: np.ndarray, fitted: np.ndarray) -> float:
    return float(1 - np.square(ys - fitted).sum() / np.square(ys - ys.mean()).sum()) if np.ptp(ys) > 0 else 0.0
