"""Compute-optimal points of a study and their power laws (Deshpande et al. 2023, section 5.1, Figures 1 to 3)."""

import math
from dataclasses import dataclass

import numpy as np

from bitcipher.errors import BitcipherError
from training.studies.downscaling.scaling.bootstrap import LawIntervals, bootstrap_law
from training.studies.downscaling.scaling.frontier import compute_optimal
from training.studies.downscaling.scaling.law_selection import select_law
from training.studies.downscaling.scaling.power_law import BrokenPowerLaw, PowerLaw, fit_power_law
from training.studies.downscaling.sweep.measures import Measures


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

    plain: PowerLaw | None
    """Law of the paper's form, without an irreducible loss and a break; None if it cannot be fitted."""
    law: PowerLaw | BrokenPowerLaw | None
    """Law with the irreducible loss and the break that the points support (`select_law`); None like `plain`."""
    intervals: LawIntervals | None
    """95 % bootstrap intervals of the parameters of `law`; None if a resample cannot be fitted."""
    missing: str = ""
    """Reason why there is no law, as a sentence."""


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
        _fit(points.flops, points.losses),
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


def _fit(x: np.ndarray, y: np.ndarray) -> LawFit:
    if len(x) == 0:
        return LawFit(None, None, None, "No model has been evaluated after its first step yet.")
    try:
        plain, law = fit_power_law(x, y), select_law(x, y)
    except BitcipherError as error:
        return LawFit(None, None, None, f"No power law yet: {error}")
    return LawFit(plain, law, _intervals(x, y, law))


def _intervals(x: np.ndarray, y: np.ndarray, law: PowerLaw | BrokenPowerLaw) -> LawIntervals | None:
    try:
        return bootstrap_law(x, y, law)
    except BitcipherError:  # a resample cannot be fitted
        return None
