"""Figures of classification and regression, and which task of GLUE has which (Wang et al. 2018, arXiv:1804.07461)."""

from collections.abc import Callable

import numpy as np
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef


def accuracy(truth: np.ndarray, predicted: np.ndarray) -> float:
    """The share of right labels, [N] each, in percent."""
    return float(100 * accuracy_score(truth, predicted))


def positive_f1(truth: np.ndarray, predicted: np.ndarray) -> float:
    """F1 of label 1, [N] each, in percent; 0 if it is never found."""
    return float(100 * f1_score(truth, predicted, labels=[1], average="macro", zero_division=0))


def matthews(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Matthews' correlation of labels, [N] each, -100 to 100; 0 if either side has one label only."""
    if _is_constant(truth) or _is_constant(predicted):
        return 0.0
    return float(100 * matthews_corrcoef(truth, predicted))


def pearson(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Pearson's correlation of numbers, [N] each, -100 to 100; 0 if either side is constant."""
    if _is_constant(truth) or _is_constant(predicted):
        return 0.0
    # Scaled by its largest deviation, a prediction that hardly moves keeps its digits, and SciPy its silence.
    centered = predicted - np.mean(predicted, dtype=np.float64)
    return float(100 * pearsonr(truth, centered / np.abs(centered).max()).statistic)


def spearman(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Spearman's rank correlation of numbers, [N] each, -100 to 100; 0 if either side is constant."""
    if _is_constant(truth) or _is_constant(predicted):
        return 0.0
    return float(100 * spearmanr(truth, predicted).statistic)


def _is_constant(values: np.ndarray) -> bool:
    return len(values) == 0 or bool((values == values[0]).all())


METRICS: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "accuracy": accuracy,
    "f1": positive_f1,
    "matthews": matthews,
    "pearson": pearson,
    "spearman": spearman,
}

# By the names of the folders as published.
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
    """The figures of these names, and as `mean` their mean if there are several: a task's score in GLUE (section 4).

    Args:
        names: of `METRICS`.
        truth: [N], numbers of labels, or values.
        predicted: [N], of the same kind.
    """
    found = {name: METRICS[name](truth, predicted) for name in names}
    return found if len(found) == 1 else found | {"mean": sum(found.values()) / len(found)}


def main_metric(names: tuple[str, ...]) -> str:
    """The one of `figures` to choose by."""
    return names[0] if len(names) == 1 else "mean"
