"""Compute-optimal points of a study and their power laws (Deshpande et al. 2023, section 5.1, Figures 1 to 3)."""

import math
from dataclasses import dataclass

import numpy as np

from bitcipher.errors import BitcipherError
from training.scaling import (
    BrokenPowerLaw,
    PowerLaw,
    bootstrap_exponent,
    compute_optimal,
    fit_broken,
    fit_power_law,
)
from training.sweep.measures import Measures

# Minimum number of points for a broken power law: two laws that meet at a break.
MIN_POINTS_FOR_BREAK = 8


@dataclass(frozen=True)
class OptimalPoints:
    """Compute-optimal points: the evaluation with the lowest loss in each bin of FLOPs. [P] float64 each."""

    flops: np.ndarray
    """Training FLOPs so far."""
    tokens: np.ndarray
    """Training tokens so far."""
    parameters: np.ndarray
    losses: np.ndarray
    """Losses on the development split, in nats."""

    def __len__(self) -> int:
        return len(self.losses)


@dataclass(frozen=True)
class LawFit:
    """Power laws between one quantity and the loss, fitted to the compute-optimal points."""

    law: PowerLaw | None
    """Power law; None if it cannot be fitted."""
    interval: tuple[float, float] | None
    """95 % bootstrap interval of the exponent; None for quantities other than FLOPs, or if a resample cannot be
    fitted."""
    broken: BrokenPowerLaw | None
    """Two laws that meet at a break; None for quantities other than FLOPs, or if there are too few points."""
    missing: str = ""
    """Reason why `law` is None, as a sentence."""


@dataclass(frozen=True)
class ScalingLaws:
    """Compute-optimal points of a study, and the fit of their losses to FLOPs, tokens and parameters."""

    points: OptimalPoints
    flops: LawFit
    tokens: LawFit
    parameters: LawFit


def fit_laws(measures: Measures) -> ScalingLaws:
    """Fit the laws to the compute-optimal points of the random-init models of the constrained language."""
    points = optimal_points(measures)
    return ScalingLaws(
        points,
        _fit(points.flops, points.losses, with_break=True),
        _fit(points.tokens, points.losses),
        _fit(points.parameters, points.losses),
    )


def optimal_points(measures: Measures) -> OptimalPoints:
    """Return the evaluation with the lowest loss in each bin of FLOPs, by increasing FLOPs.

    Evaluations before the first step are left out.
    """
    rows = [
        (
            evaluation.sequences * measures.sequence_flops(model),
            evaluation.sequences * measures.length,
            measures.parameters(model),
            evaluation.loss,
        )
        for model in measures.select()
        for evaluation in model.evaluations
        if evaluation.step > 0 and math.isfinite(evaluation.loss)
    ]
    columns = np.array(rows, np.float64).reshape(-1, 4)
    best = compute_optimal(columns[:, 0], columns[:, 3]) if rows else []
    return OptimalPoints(*columns[np.asarray(best, np.int64)].T)


def _fit(x: np.ndarray, y: np.ndarray, *, with_break: bool = False) -> LawFit:
    """Return a fit; if `with_break`, also a bootstrap interval and a broken power law."""
    if len(x) == 0:
        return LawFit(None, None, None, "No model has been evaluated after its first step yet.")
    try:
        law = fit_power_law(x, y)
    except BitcipherError as error:
        return LawFit(None, None, None, f"No power law yet: {error}")
    return LawFit(law, _interval(x, y), _broken(x, y)) if with_break else LawFit(law, None, None)


def _interval(x: np.ndarray, y: np.ndarray) -> tuple[float, float] | None:
    try:
        return bootstrap_exponent(x, y)
    except BitcipherError:  # a resample cannot be fitted
        return None


def _broken(x: np.ndarray, y: np.ndarray) -> BrokenPowerLaw | None:
    if len(x) < MIN_POINTS_FOR_BREAK:
        return None
    try:
        return fit_broken(x, y)
    except BitcipherError:  # too few different x
        return None
