"""Metrics of classification and regression, and the metrics of each GLUE task (Wang et al. 2018, arXiv:1804.07461)."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef


def accuracy(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Return the accuracy of labels, [N] each, in percent."""
    return float(100 * accuracy_score(truth, predicted))


def positive_f1(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Return the F1 of label 1, [N] each, in percent; 0 if it is never predicted."""
    zero: Any = 0  # the type stub accepts strings only
    return float(100 * f1_score(truth, predicted, labels=[1], average="macro", zero_division=zero))


def matthews(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Return the Matthews correlation of labels, [N] each, from -100 to 100; 0 if either side is constant."""
    if _is_constant(truth) or _is_constant(predicted):
        return 0.0
    return float(100 * matthews_corrcoef(truth, predicted))


def pearson(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Return the Pearson correlation of values, [N] each, from -100 to 100; 0 if either side is constant."""
    if _is_constant(truth) or _is_constant(predicted):
        return 0.0
    # Scaling by the largest deviation preserves the precision of nearly constant predictions, and avoids a warning.
    centered = predicted - np.mean(predicted, dtype=np.float64)
    result: Any = pearsonr(truth, centered / np.abs(centered).max())
    return float(100 * result.statistic)


def spearman(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Return the Spearman rank correlation of values, [N] each, from -100 to 100; 0 if either side is constant."""
    if _is_constant(truth) or _is_constant(predicted):
        return 0.0
    result: Any = spearmanr(truth, predicted)
    return float(100 * result.statistic)


def _is_constant(values: np.ndarray) -> bool:
    return len(values) == 0 or bool((values == values[0]).all())


METRICS: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "accuracy": accuracy,
    "f1": positive_f1,
    "matthews": matthews,
    "pearson": pearson,
    "spearman": spearman,
}

# By the names of the published folders.
GLUE_METRICS: dict[str, tuple[str, ...]] = {
    "CoLA": ("matthews",),
    "SST-2": ("accuracy",),
    "MRPC": ("accuracy", "f1"),
    "STS-B": ("pearson", "spearman"),
    "QNLI": ("accuracy",),
    "RTE": ("accuracy",),
    "WNLI": ("accuracy",),
}


def compute_metrics(names: tuple[str, ...], truth: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    """Return metrics by name, and their mean as `mean` if there are several: the GLUE score of a task (section 4).

    Args:
        names: names in `METRICS`.
        truth: labels or values, [N].
        predicted: predicted labels or values, [N].
    """
    found = {name: METRICS[name](truth, predicted) for name in names}
    return found if len(found) == 1 else found | {"mean": sum(found.values()) / len(found)}


def main_metric(names: tuple[str, ...]) -> str:
    """Return the name of the metric of `compute_metrics` that selects models."""
    return names[0] if len(names) == 1 else "mean"
