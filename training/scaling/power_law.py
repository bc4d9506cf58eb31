"""Power laws y = C · xᵉ, with breaks and bootstrap intervals (Deshpande et al. 2023, section 5.1; Figures 1 to 3).

A break is a value of x below and above which two different power laws are fitted.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import curve_fit

from bitcipher.errors import BitcipherError
from training.scaling.checks import Numbers, check_lengths, check_positive

# Minimum number of points of a fit. A power law has two parameters, so it fits two points exactly.
MIN_POINTS = 3
# Minimum number of points on each side of a break. With fewer, noise alone would place a break near an end.
MIN_POINTS_PER_SIDE = 4
# Largest natural logarithm of a coefficient. That of the largest float64 is 709.78.
_LARGEST_LOG = 709.0
# Upper limit of the logarithm of the curve, because intermediate steps of the fit can be too steep. The squared
# exponential of this limit is still a float64.
_MAX_LOG_OF_CURVE = 300.0


@dataclass(frozen=True)
class PowerLaw:
    """Power law y = coefficient · x ** exponent."""

    coefficient: float
    """Factor C, the y at x = 1."""
    exponent: float
    """Exponent e."""
    r_squared: float
    """Coefficient of determination in y: 1 for a perfect fit; 0 if the curve is as good as the mean of y, or if all y
    are equal; below 0 if the curve is worse than the mean."""

    def at(self, x: Numbers) -> np.ndarray:
        """Return y for each x above 0, (N,) float64."""
        return _values(np.asarray(x, np.float64), np.log(self.coefficient), self.exponent)


@dataclass(frozen=True)
class BrokenPowerLaw:
    """Two power laws, one below and one above a break."""

    break_at: float
    """The x of the break: the geometric mean of the largest x below it and the smallest x above it."""
    below: PowerLaw
    """Power law of the points below the break."""
    above: PowerLaw
    """Power law of the points above the break."""


def fit_power_law(x: Numbers, y: Numbers) -> PowerLaw:
    """Return the power law of least squared error in y, fitted by SciPy's Levenberg-Marquardt as by Deshpande et al.

    Args:
        x: (N,) x of each point, such as FLOPs, of any magnitude.
        y: (N,) y of each point, such as losses.

    Raises:
        BitcipherError: if there are fewer than three points, all x are equal, or a number is not finite or not above 0.
    """
    xs, ys = _points(x, y, MIN_POINTS)
    return _law(xs, ys)


def fit_broken(x: Numbers, y: Numbers, min_points: int = MIN_POINTS_PER_SIDE) -> BrokenPowerLaw:
    """Return the two power laws on either side of a break that minimize the total squared error in y.

    All breaks between two different x are tried. Two power laws always fit at least as well as one, so compare their R²
    and exponents before you interpret a break.

    Args:
        x: (N,) x of each point, in any order.
        y: (N,) y of each point.
        min_points: minimum number of points per side, at least three.

    Raises:
        BitcipherError: if there are too few points, if every break leaves too few different x on one side, or if a
            number is not finite or not above 0.
    """
    if min_points < MIN_POINTS:
        raise BitcipherError(f"`min_points` must be at least {MIN_POINTS}, got {min_points}.")
    xs, ys = _points(x, y, 2 * min_points)
    order = np.argsort(xs, kind="stable")
    xs, ys = xs[order], ys[order]
    breaks = [
        index
        for index in range(min_points, len(xs) - min_points + 1)
        if xs[0] < xs[index - 1] < xs[index] < xs[-1]  # two different x on each side, and no x on both sides
    ]
    if not breaks:
        raise BitcipherError("There are too few different x for a break; measure at more of them.")
    best = min(breaks, key=lambda index: _error(xs[:index], ys[:index]) + _error(xs[index:], ys[index:]))
    break_at = float(np.exp((np.log(xs[best - 1]) + np.log(xs[best])) / 2))
    return BrokenPowerLaw(break_at, _law(xs[:best], ys[:best]), _law(xs[best:], ys[best:]))


def bootstrap_exponent(
    x: Numbers,
    y: Numbers,
    samples: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
) -> tuple[float, float]:
    """Return a confidence interval of the exponent, by the percentile bootstrap over points.

    Args:
        x: (N,) x of each point.
        y: (N,) y of each point.
        samples: number of bootstrap samples of N points with replacement. A sample whose x are all equal has no
            exponent and is drawn again.
        seed: seed of the samples.
        confidence: confidence level, above 0 and below 1.

    Returns:
        The lower and the upper bound of the exponent.

    Raises:
        BitcipherError: as for `fit_power_law`, or if `samples`, `seed` or `confidence` is out of range.
    """
    if samples < 1 or seed < 0 or not 0 < confidence < 1:
        raise BitcipherError(
            f"A bootstrap needs at least 1 sample, a seed of at least 0 and a confidence between 0 and 1, "
            f"got {samples}, {seed} and {confidence}."
        )
    xs, ys = _points(x, y, MIN_POINTS)
    rng = np.random.default_rng(seed)
    exponents: list[float] = []
    while len(exponents) < samples:
        drawn = rng.integers(len(xs), size=len(xs))
        if np.ptp(xs[drawn]) > 0:
            exponents.append(_parameters(xs[drawn], ys[drawn])[1])
    low, high = np.quantile(exponents, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def _points(x: Numbers, y: Numbers, min_points: int) -> tuple[np.ndarray, np.ndarray]:
    xs, ys = check_positive("x", x), check_positive("y", y)
    check_lengths(("x", xs), ("y", ys), min_points=min_points)
    if np.ptp(xs) == 0:
        raise BitcipherError(f"All {len(xs)} x are {xs[0]}; a power law needs at least two different values.")
    return xs, ys


def _error(xs: np.ndarray, ys: np.ndarray) -> float:
    return float(np.square(ys - _values(xs, *_parameters(xs, ys))).sum())


def _law(xs: np.ndarray, ys: np.ndarray) -> PowerLaw:
    log_coefficient, exponent = _parameters(xs, ys)
    if abs(log_coefficient) > _LARGEST_LOG:
        raise BitcipherError(
            f"With an exponent of {exponent:.4g}, the coefficient exceeds the range of float64; give x in larger "
            "units, or points that are further apart."
        )
    residual = np.square(ys - _values(xs, log_coefficient, exponent)).sum()
    r_squared = 1 - residual / np.square(ys - ys.mean()).sum() if np.ptp(ys) > 0 else 0.0
    return PowerLaw(float(np.exp(log_coefficient)), exponent, float(r_squared))


def _values(xs: np.ndarray, log_coefficient: float, exponent: float) -> np.ndarray:
    return np.exp(log_coefficient + exponent * np.log(xs))


def _parameters(xs: np.ndarray, ys: np.ndarray) -> tuple[float, float]:
    """Return the natural logarithm of the coefficient and the exponent of the power law that fits best."""
    # Both axes are divided by their geometric means, and log x is scaled to a standard deviation of 1, so that the fit
    # is well conditioned for any unit and range, such as x of 10^15.
    log_x, log_y = np.log(xs), np.log(ys)
    mean_x, mean_y, scale = log_x.mean(), log_y.mean(), log_x.std()
    moved_x, moved_y = (log_x - mean_x) / scale, log_y - mean_y
    start = (0.0, float(moved_x @ moved_y / (moved_x @ moved_x)))
    try:
        (height, slope), _ = curve_fit(_curve, moved_x, np.exp(moved_y), start, method="lm", jac=_jacobian)
    except RuntimeError:
        raise BitcipherError(
            f"No power law fits the {len(xs)} points from x = {xs.min()} to {xs.max()}; check them for outliers."
        ) from None
    exponent = slope / scale
    return float(height + mean_y - exponent * mean_x), float(exponent)


def _curve(moved_x: np.ndarray, height: float, slope: float) -> np.ndarray:
    return np.exp(np.minimum(height + slope * moved_x, _MAX_LOG_OF_CURVE))


def _jacobian(moved_x: np.ndarray, height: float, slope: float) -> np.ndarray:
    curve = _curve(moved_x, height, slope)
    return np.column_stack([curve, curve * moved_x])
