"""Least squares of curves C · xᵉ with a common offset, by the Levenberg-Marquardt algorithm of SciPy (MINPACK)."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import leastsq

from bitcipher.errors import BitcipherError

# Largest natural logarithm of a coefficient. That of the largest float64 is 709.78.
MAX_LOG = 709.0
# Upper limit of the logarithm of a curve, because intermediate steps of the fit can be too steep. The squared
# exponential of this limit is still a float64.
_MAX_LOG_OF_CURVE = 300.0
# First guesses of the offset, as shares of the smallest y. The error can have several minima, and the best is kept.
_SHARES_OF_SMALLEST_Y = (0.3, 0.7, 0.95)
# A fit that needs more evaluations moves an offset and a coefficient to infinity, to approach a logarithm of x.
_MAX_EVALUATIONS = 200
# Values of MINPACK's `info` for a solution within the tolerances.
_CONVERGED = (1, 2, 3, 4)

Points = tuple[np.ndarray, np.ndarray]


class Curve(NamedTuple):
    """Curve y = exp(log_coefficient) · x ** exponent."""

    log_coefficient: float
    exponent: float

    def at(self, xs: np.ndarray) -> np.ndarray:
        """Return y for each x, (N,) float64."""
        return np.exp(self.log_coefficient + self.exponent * np.log(xs))


class _Axis(NamedTuple):
    """Logarithm of x, moved and scaled to mean 0 and standard deviation 1.

    With it, a fit is well conditioned for any unit and range, such as x of 10^15.
    """

    moved: np.ndarray
    mean: float
    scale: float

    @classmethod
    def of(cls, xs: np.ndarray) -> "_Axis":
        log_x = np.log(xs)
        return cls((log_x - log_x.mean()) / log_x.std(), log_x.mean(), log_x.std())

    def curve(self, height: float, slope: float, unit: float) -> Curve:
        exponent = slope / self.scale
        return Curve(float(height + np.log(unit) - exponent * self.mean), float(exponent))


def fit_curves(sides: Sequence[Points], with_offset: bool, offsets: Sequence[float] = ()) -> tuple[float, list[Curve]]:
    """Return the offset of all sides, and the curve of each, that minimize the squared error in y.

    Args:
        sides: x and y of the points of each side, above 0, with at least two different x each.
        with_offset: whether to fit an offset, of at least 0. Otherwise it is 0.
        offsets: first guesses of the offset, above 0; by default, three shares of the smallest y.

    Raises:
        BitcipherError: if the fit without an offset does not converge.
    """
    best = 0.0, [_fit_curve(*side) for side in sides]
    if with_offset:
        smallest = min(ys.min() for _, ys in sides)
        guesses = offsets or [share * smallest for share in _SHARES_OF_SMALLEST_Y]
        found = [fit for guess in guesses if (fit := _fit_offset(sides, guess))]
        best = min([best, *found], key=lambda fit: squared_error(sides, *fit))
    return best


def squared_error(sides: Sequence[Points], offset: float, curves: Sequence[Curve]) -> float:
    """Return the sum of squared differences between the points and their curves."""
    return sum(
        float(np.square(ys - offset - curve.at(xs)).sum()) for (xs, ys), curve in zip(sides, curves, strict=True)
    )


def _fit_curve(xs: np.ndarray, ys: np.ndarray) -> Curve:
    axis, unit = _Axis.of(xs), np.exp(np.log(ys).mean())
    found = _minimize(
        lambda guess: _curve(axis, *guess) - ys / unit,
        lambda guess: _jacobian(axis, *guess),
        _first_guess(axis, ys / unit),
    )
    if found is None:
        raise BitcipherError(
            f"No power law fits the {len(xs)} points from x = {xs.min()} to {xs.max()}; check them for outliers."
        )
    return axis.curve(found[0], found[1], unit)


def _fit_offset(sides: Sequence[Points], guess: float) -> tuple[float, list[Curve]] | None:
    """Return the offset and the curves near a first guess of the offset; None if the best offset is not above 0."""
    axes, y = [_Axis.of(xs) for xs, _ in sides], np.concatenate([ys for _, ys in sides])
    unit = np.exp(np.log(y).mean())
    ends = np.cumsum([0, *(len(xs) for xs, _ in sides)])

    def residuals(values: np.ndarray) -> np.ndarray:
        curves = [_curve(axis, *pair) for axis, pair in zip(axes, values[1:].reshape(-1, 2), strict=True)]
        return values[0] + np.concatenate(curves) - y / unit

    def jacobian(values: np.ndarray) -> np.ndarray:
        matrix = np.zeros((len(y), len(values)))
        matrix[:, 0] = 1
        for side, (axis, pair) in enumerate(zip(axes, values[1:].reshape(-1, 2), strict=True)):
            matrix[ends[side] : ends[side + 1], 1 + 2 * side : 3 + 2 * side] = _jacobian(axis, *pair)
        return matrix

    # Points below the guess, of a resample for example, have no logarithm above it.
    above = [np.maximum(ys - guess, 1e-3 * ys) / unit for _, ys in sides]
    first = np.concatenate([[guess / unit], *(_first_guess(*each) for each in zip(axes, above, strict=True))])
    found = _minimize(residuals, jacobian, first)
    if found is None or found[0] <= 0:
        return None
    pairs = found[1:].reshape(-1, 2)
    return float(found[0] * unit), [axis.curve(pair[0], pair[1], unit) for axis, pair in zip(axes, pairs, strict=True)]


def _minimize(
    residuals: Callable[[np.ndarray], np.ndarray], jacobian: Callable[[np.ndarray], np.ndarray], first: np.ndarray
) -> np.ndarray | None:
    """Return the parameters of least squared residuals; None without convergence."""
    # `scipy.optimize.least_squares` calls the same routine, but takes far longer, and a break needs hundreds of fits.
    result: Any = leastsq(residuals, first, Dfun=jacobian, full_output=True, maxfev=_MAX_EVALUATIONS)
    found, *_, status = result
    return found if status in _CONVERGED else None


def _first_guess(axis: _Axis, y: np.ndarray) -> np.ndarray:
    """Return height and slope of the straight line through the logarithms."""
    log_y = np.log(y)
    return np.array([log_y.mean(), axis.moved @ log_y / (axis.moved @ axis.moved)])


def _curve(axis: _Axis, height: float, slope: float) -> np.ndarray:
    return np.exp(np.minimum(height + slope * axis.moved, _MAX_LOG_OF_CURVE))


def _jacobian(axis: _Axis, height: float, slope: float) -> np.ndarray:
    curve = _curve(axis, height, slope)
    return np.column_stack([curve, curve * axis.moved])
