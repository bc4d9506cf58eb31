"""Compute-optimal points of a study, and the power laws through them (section 5.1; Figures 1 to 3)."""

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

# Fewer points than this say nothing of two laws.
MIN_POINTS_FOR_BREAK = 8


@dataclass(frozen=True)
class Points:
    """Evaluations of models on their way, [P] each."""

    flops: np.ndarray
    """Of the training up to then."""
    tokens: np.ndarray
    """Trained on up to then."""
    parameters: np.ndarray
    losses: np.ndarray
    """On the development part, in nats."""

    def __len__(self) -> int:
        return len(self.losses)


@dataclass(frozen=True)
class LawFit:
    """What the loss at compute-optimal points says against one quantity."""

    law: PowerLaw | None
    """None where no law can be fitted."""
    interval: tuple[float, float] | None
    """Between which exponents 95 % of the bootstrap's draws lie; of FLOPs alone, and None where a draw has no law."""
    broken: BrokenPowerLaw | None
    """Two laws; of FLOPs alone, and None unless there are enough points."""
    missing: str = ""
    """Why there is no law, as a sentence."""


@dataclass(frozen=True)
class ScalingLaws:
    """The points, and a fit against each quantity."""

    points: Points
    flops: LawFit
    tokens: LawFit
    parameters: LawFit


def fit_laws(measures: Measures) -> ScalingLaws:
    """The laws of random and constrained models, over all evaluations after their first step."""
    points = optimal_points(measures)
    return ScalingLaws(
        points,
        _fit(points.flops, points.losses, closely=True),
        _fit(points.tokens, points.losses),
        _fit(points.parameters, points.losses),
    )


def optimal_points(measures: Measures) -> Points:
    """The evaluation of lowest loss in each bin of FLOPs (`training.scaling.compute_optimal`), in order of FLOPs."""
    found = [
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
    columns = np.array(found, np.float64).reshape(-1, 4)
    best = compute_optimal(columns[:, 0], columns[:, 3]) if found else []
    return Points(*columns[np.asarray(best, np.int64)].T)


def _fit(x: np.ndarray, y: np.ndarray, *, closely: bool = False) -> LawFit:
    """A law, and if it is looked at closely, how sure its exponent is and where it breaks."""
    if len(x) == 0:
        return LawFit(None, None, None, "No model was evaluated after its first step yet.")
    try:
        law = fit_power_law(x, y)
    except BitcipherError as error:
        return LawFit(None, None, None, f"No power law yet: {error}")
    return LawFit(law, _interval(x, y), _broken(x, y)) if closely else LawFit(law, None, None)


def _interval(x: np.ndarray, y: np.ndarray) -> tuple[float, float] | None:
    try:
        return bootstrap_exponent(x, y)
    except BitcipherError:  # of a draw
        return None


def _broken(x: np.ndarray, y: np.ndarray) -> BrokenPowerLaw | None:
    if len(x) < MIN_POINTS_FOR_BREAK:
        return None
    try:
        return fit_broken(x, y)
    except BitcipherError:  # too few different x
        return None
