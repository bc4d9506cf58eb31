"""Scaling analysis of small language models: model shapes, their costs, and power laws; see README.md."""

from training.scaling.bootstrap import LawIntervals, bootstrap_law
from training.scaling.correlation import rank_correlation
from training.scaling.effectiveness import cost_effectiveness
from training.scaling.frontier import compute_optimal
from training.scaling.law_selection import select_law
from training.scaling.loss_surface import LossSurface, fit_loss_surface
from training.scaling.modernbert_shape import ModernBertShape
from training.scaling.power_law import BrokenPowerLaw, PowerLaw, fit_broken, fit_power_law
from training.scaling.published import Published, published
from training.scaling.shape import LENGTH, POSITIONS, SEQUENCES, TOKEN_TYPES, VOCABULARY, Shape
from training.scaling.shapes import ANCHOR, larger, select_spanning, set_1, set_2, set_3, smallest

__all__ = [
    "ANCHOR",
    "LENGTH",
    "POSITIONS",
    "SEQUENCES",
    "TOKEN_TYPES",
    "VOCABULARY",
    "BrokenPowerLaw",
    "LawIntervals",
    "LossSurface",
    "ModernBertShape",
    "PowerLaw",
    "Published",
    "Shape",
    "bootstrap_law",
    "compute_optimal",
    "cost_effectiveness",
    "fit_broken",
    "fit_loss_surface",
    "fit_power_law",
    "larger",
    "published",
    "rank_correlation",
    "select_law",
    "select_spanning",
    "set_1",
    "set_2",
    "set_3",
    "smallest",
]
