"""Confidence intervals of the parameters of power laws, by the percentile bootstrap over points (Efron 1979).

All resamples are fitted at once, by Levenberg-Marquardt steps from the law.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm, t

from bitcipher.errors import BitcipherError
from training.studies.downscaling.scaling.checks import Numbers
from training.studies.downscaling.scaling.power_law import MIN_POINTS, BrokenPowerLaw, PowerLaw, check_points

# Number of Levenberg-Marquardt steps. The fits start near their solutions and converge in about ten.
_STEPS = 40
# First damping of the steps, its factors after a step that lowers the error and after one that does not, and its limit:
# with it, a step changes nothing.
_DAMPING, _FALLS, _RISES, _MAX_DAMPING = 1e-3, 0.1, 10.0, 1e12
# Upper limit of the logarithm of a curve, because a step can be too steep.
_MAX_LOG_OF_CURVE = 300.0


@dataclass(frozen=True)
class LawIntervals:
    """Confidence intervals of a law's parameters: lower and upper bounds."""

    exponents: tuple[tuple[float, float], ...]
    """Interval of the exponent; for two laws with a break, that below and that above the break."""
    offset: tuple[float, float] | None
    """Interval of the offset; None for a law without one."""


def bootstrap_law(
    x: Numbers,
    y: Numbers,
    law: PowerLaw | BrokenPowerLaw,
    samples: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
) -> LawIntervals:
    """Return confidence intervals of the exponents and the offset of a law.

    The bounds are percentiles, expanded to the quantiles of Student's t distribution (Hesterberg 2015, section 5.3),
    because plain percentiles are too narrow for few points.

    Args:
        x: (N,) x of each point.
        y: (N,) y of each point.
        law: a law that was fitted to these points. Its break stays where it is, and an offset of 0 stays 0.
        samples: number of bootstrap samples: N points with replacement, as many from each side of the break as it has.
            A sample with too few different x on a side is drawn again.
        seed: seed of the samples.
        confidence: confidence level, above 0 and below 1.

    Raises:
        BitcipherError: as for `fit_power_law`, if there are too few different x for the law, or if `samples`, `seed` or
            `confidence` is out of range.
    """
    if samples < 1 or seed < 0 or not 0 < confidence < 1:
        raise BitcipherError(
            f"A bootstrap needs at least 1 sample, a seed of at least 0 and a confidence between 0 and 1, "
            f"got {samples}, {seed} and {confidence}."
        )
    xs, ys = check_points(x, y, MIN_POINTS)
    laws = [law.below, law.above] if isinstance(law, BrokenPowerLaw) else [law]
    side = (xs >= law.break_at).astype(int) if isinstance(law, BrokenPowerLaw) else np.zeros(len(xs), int)
    counts = _draw_counts(xs, side, 3 if laws[0].offset else 2, samples, np.random.default_rng(seed))
    problem = _Resamples(np.log(xs / np.exp(np.log(xs).mean())), ys / ys.mean(), side, counts)
    unit = np.log(xs).mean()
    curves = [
        value
        for each in laws
        for value in (np.log(each.coefficient) + each.exponent * unit - np.log(ys.mean()), each.exponent)
    ]
    rows = problem.fit(np.array([0.0, *curves]), offset=False)
    if laws[0].offset:
        free = problem.fit(np.array([laws[0].offset / ys.mean(), *curves]), offset=True)
        rows = np.where(free[:, :1] > 0, free, rows)
    degrees = len(xs) - 2 * len(laws) - (laws[0].offset > 0)
    ends = _expanded(confidence, len(xs), degrees)
    low, high = np.quantile(rows, ends, axis=0)
    bounds = [(float(one), float(other)) for one, other in zip(low, high, strict=True)]
    offset = (bounds[0][0] * float(ys.mean()), bounds[0][1] * float(ys.mean()))
    return LawIntervals(tuple(bounds[2::2]), offset if laws[0].offset else None)


def _expanded(confidence: float, points: int, degrees: int) -> tuple[float, float]:
    """Return the levels of the lower and the upper percentile."""
    low = float(norm.cdf(np.sqrt(points / max(degrees, 1)) * t.ppf((1 - confidence) / 2, max(degrees, 1))))
    return low, 1 - low


def _draw_counts(
    xs: np.ndarray, side: np.ndarray, min_different: int, samples: int, rng: np.random.Generator
) -> np.ndarray:
    """Return how often each sample contains each point, (samples, N) float64."""
    counts = np.zeros((samples, len(xs)))
    for index in np.unique(side):
        members = np.flatnonzero(side == index)
        different, group = np.unique(xs[members], return_inverse=True)
        if len(different) < min_different:
            raise BitcipherError(
                f"A law with these parameters needs at least {min_different} different x on each side of a break, but "
                f"one has {len(different)}; measure at more of them."
            )
        for row in counts:
            drawn = rng.integers(len(members), size=len(members))
            while len(np.unique(group[drawn])) < min_different:
                drawn = rng.integers(len(members), size=len(members))
            row[members] = np.bincount(drawn, minlength=len(members))
    return counts


@dataclass(frozen=True)
class _Resamples:
    """Least squares of y = offset + exp(height + slope · log x) for many weightings of the points."""

    log_x: np.ndarray
    y: np.ndarray
    side: np.ndarray
    """Index of the law of each point, (N,)."""
    counts: np.ndarray
    """Weights, (R, N)."""

    def fit(self, start: np.ndarray, *, offset: bool) -> np.ndarray:
        """Return the offset and the height and slope of each law, (R, 1 + 2 · laws), for each weighting.

        Args:
            start: parameters to start from.
            offset: whether to fit the offset. Otherwise it stays as it is.
        """
        values = np.tile(start, (len(self.counts), 1))
        damping = np.full(len(values), _DAMPING)
        errors = self._errors(values)
        free = slice(0 if offset else 1, None)
        for _ in range(_STEPS):
            jacobian, residuals = self._jacobian(values)[:, :, free], self._residuals(values)
            weighted = jacobian * self.counts[:, :, None]
            normal = weighted.transpose(0, 2, 1) @ jacobian
            gradient = np.einsum("rnp,rn->rp", weighted, residuals)
            scale = np.einsum("rpp->rp", normal)[:, :, None] * np.eye(normal.shape[-1])
            step = np.linalg.solve(normal + damping[:, None, None] * scale, gradient[:, :, None])[:, :, 0]
            moved = values.copy()
            moved[:, free] += step
            moved_errors = self._errors(moved)
            better = moved_errors < errors
            values[better], errors[better] = moved[better], moved_errors[better]
            damping = np.minimum(damping * np.where(better, _FALLS, _RISES), _MAX_DAMPING)
        return values

    def _curves(self, values: np.ndarray) -> np.ndarray:
        pairs = values[:, 1:].reshape(len(values), -1, 2)[:, self.side]
        return np.exp(np.minimum(pairs[..., 0] + pairs[..., 1] * self.log_x, _MAX_LOG_OF_CURVE))

    def _residuals(self, values: np.ndarray) -> np.ndarray:
        return self.y - values[:, :1] - self._curves(values)

    def _errors(self, values: np.ndarray) -> np.ndarray:
        return np.sum(self.counts * np.square(self._residuals(values)), axis=1)

    def _jacobian(self, values: np.ndarray) -> np.ndarray:
        curves = self._curves(values)
        columns = [np.ones_like(curves)]
        for index in range((values.shape[1] - 1) // 2):
            of_side = curves * (self.side == index)
            columns += [of_side, of_side * self.log_x]
        return np.stack(columns, axis=2)
