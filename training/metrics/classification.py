"""Metrics of classification and regression, and the metrics of each GLUE task (Wang et al. 2018, arXiv:1804.07461)."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef


def accuracy(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Return the accuracy of labels in percent. Both arguments have the shape (N,)."""
    return float(100 * accuracy_score(truth, predicted))


def positive_f1(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Return the F1 of label 1 in percent; 0 if the label is never predicted. Both arguments have the shape (N,)."""
    zero: Any = 0  # the type stub accepts strings only
    return float(100 * f1_score(truth, predicted, labels=[1], average="macro", zero_division=zero))


def matthews(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Return the Matthews correlation of labels, from -100 to 100; 0 if either argument, of shape (N,), is constant."""
    if _is_constant(truth) or _is_constant(predicted):
        return 0.0
    return float(100 * matthews_corrcoef(truth, predicted))


def pearson(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Return the Pearson correlation of values, from -100 to 100; 0 if either argument, of shape (N,), is constant."""
    if _is_constant(truth) or _is_constant(predicted):
        return 0.0
    # Scaling by the largest deviation preserves the precision of nearly constant predictions, and avoids a warning.
    centered = predicted - np.mean(predicted, dtype=np.float64)
    result: Any = pearsonr(truth, centered / np.abs(centered).max())
    return float(100 * result.statistic)


def spearman(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Return the Spearman correlation of values, from -100 to 100; 0 if either argument, of shape (N,), is constant."""
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

# Names in `METRICS` of the metrics of each GLUE task. Keys are the names of the published folders.
GLUE_METRICS: dict[str, tuple[str, ...]] = {
    "CoLA": ("matthews",),
    "SST-2": ("accuracy",),
    "MRPC": ("accuracy", "f1"),
    "STS-B": ("pearson", "spearman"),
    "QNLI": ("accuracy",),
    "RTE": ("accuracy",),
    "WNLI": ("accuracy",),
    "QQP": ("accuracy", "f1"),
    "MNLI": ("accuracy",),
    "MNLI-MM": ("accuracy",),
}


def compute_metrics(names: tuple[str, ...], truth: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    """Return metrics by name. If there are several, add their mean as `mean`, which is the GLUE score of a task.

    Args:
        names: names in `METRICS`.
        truth: labels or values, (N,).
        predicted: predicted labels or values, (N,).
    """
    metrics = {name: METRICS[name](truth, predicted) for name in names}
    return metrics if len(metrics) == 1 else metrics | {"mean": sum(metrics.values()) / len(metrics)}


def main_metric(names: tuple[str, ...]) -> str:
    """Return the name of the metric in the result of `compute_metrics` by which models are selected."""
    return names[0] if len(names) == 1 else "mean"
