"""Selection between a power law, a law with an offset, and two laws with a break.

A break is tested with a wild bootstrap (Wu 1986; Davidson and Flachaire 2008), because two laws fit any points better
than one, and the errors of losses are rarely of equal size. The statistic is the largest over all breaks, after Andrews
(1993).
"""

from typing import Any

import numpy as np
from scipy.linalg import block_diag

from bitcipher.errors import BitcipherError
from training.studies.downscaling.scaling.checks import Numbers
from training.studies.downscaling.scaling.power_law import (
    MIN_POINTS,
    MIN_POINTS_PER_SIDE,
    BrokenPowerLaw,
    PowerLaw,
    check_points,
    fit_broken,
    fit_power_law,
)

Law = PowerLaw | BrokenPowerLaw

# A law whose error is below this share of the mean y is exact: losses are measured less precisely.
_EXACT = 1e-6
# Number of resamples of the test; the p-value is a multiple of one over one more than this number.
_RESAMPLES = 999
# Upper limit of the leverage of a point, the share of its error that the fit absorbs. A point with leverage 1 has no
# residual.
_MAX_LEVERAGE = 0.95


def select_law(x: Numbers, y: Numbers, level: float = 0.05) -> Law:
    """Return the simplest law that the points support.

    An offset is included if it lowers the corrected Akaike information criterion (AICc). A break is included if one
    law, with an offset, is rejected in favor of two at the significance level.

    Args:
        x: (N,) x of each point, in any order.
        y: (N,) y of each point.
        level: significance level of the test for a break: the rate of breaks found in points without one, above 0 and
            below 1.

    Raises:
        BitcipherError: as for `fit_power_law`, or if the level is out of range.
    """
    if not 0 < level < 1:
        raise BitcipherError(f"`level` must be between 0 and 1, got {level}.")
    xs, ys = check_points(x, y, MIN_POINTS)
    order = np.argsort(xs, kind="stable")
    xs, ys = xs[order], ys[order]
    plain = fit_power_law(xs, ys)
    if len(xs) == MIN_POINTS:
        return plain
    curved = fit_power_law(xs, ys, offset=True)
    if break_p_value(xs, ys, curved) < level:
        return _best(xs, ys, [fit_broken(xs, ys), fit_broken(xs, ys, offset=True)], parameters=5)
    return _best(xs, ys, [plain, curved], parameters=2)


def break_p_value(x: Numbers, y: Numbers, law: PowerLaw) -> float:
    """Return the p-value of one law against two laws with a break, above 0 and at most 1.

    Both hypotheses are linear around the law. The errors of resamples are those of the points, enlarged by their
    leverages (HC3), with random signs.

    Args:
        x: (N,) x of each point, in any order.
        y: (N,) y of each point.
        law: the law of the null hypothesis, fitted to the points. If its offset is above 0, both laws share one.
    """
    xs, ys = check_points(x, y, MIN_POINTS)
    order = np.argsort(xs, kind="stable")
    xs, residuals = xs[order], (ys - law.at(xs))[order]
    breaks = [
        index
        for index in range(MIN_POINTS_PER_SIDE, len(xs) - MIN_POINTS_PER_SIDE + 1)
        if xs[0] < xs[index - 1] < xs[index] < xs[-1]
    ]
    free = len(xs) - 2 * 2 - (law.offset > 0)  # degrees of freedom that two laws leave
    if not breaks or free < 1 or np.sqrt(np.square(residuals).mean()) <= _EXACT * ys.mean():
        return 1.0
    null = _basis(law, xs, [])
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (_RESAMPLES, len(xs)))
    leverages = np.minimum(np.square(null).sum(axis=1), _MAX_LEVERAGE)
    resamples = np.vstack([residuals, residuals / (1 - leverages) * signs])
    errors = _errors(resamples, null)
    exact = len(xs) * (_EXACT * ys.mean()) ** 2  # so that no error is 0
    broken = [np.maximum(_errors(resamples, _basis(law, xs, [index])), exact) for index in breaks]
    statistics = errors / np.min(broken, axis=0)
    return float((statistics[1:] >= statistics[0]).sum() + 1) / (_RESAMPLES + 1)


def _basis(law: PowerLaw, xs: np.ndarray, breaks: list[int]) -> np.ndarray:
    """Return orthonormal columns that span all small changes of the law on each side of the breaks, (N, columns)."""
    curve, log_x = law.at(xs) - law.offset, np.log(xs) - np.log(xs).mean()
    columns: Any = block_diag(*np.split(np.column_stack([curve, curve * log_x]), breaks))
    if law.offset > 0:
        columns = np.column_stack([columns, np.ones(len(xs))])
    return np.linalg.qr(columns)[0]


def _errors(residuals: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Return the squared error of each row of residuals, (R, N), after a linear fit, (R,)."""
    left = residuals - residuals @ basis @ basis.T
    return np.square(left).sum(axis=1)


def _best(xs: np.ndarray, ys: np.ndarray, laws: list[Law], parameters: int) -> Law:
    """Return the law with the lowest AICc; the second law has one parameter more than the first."""

    def criterion(index: int) -> float:
        free = 1 + parameters + index  # with the variance of the errors
        if len(xs) <= free + 1:
            return np.inf if index else 0.0
        error = max(float(np.square(ys - laws[index].at(xs)).mean()), (_EXACT * ys.mean()) ** 2)
        return len(xs) * np.log(error) + 2 * free * len(xs) / (len(xs) - free - 1)

    return laws[min(range(len(laws)), key=criterion)]
