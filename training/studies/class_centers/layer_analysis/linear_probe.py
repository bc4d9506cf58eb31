"""Accuracy of a linear probe."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bitcipher.errors import BitcipherError

# Iterations of L-BFGS, which is deterministic. More iterations change the accuracy by less than its sampling error.
MAX_ITERATIONS = 100


def probe_accuracy(train: np.ndarray, train_labels: np.ndarray, test: np.ndarray, test_labels: np.ndarray) -> float:
    """Return the fraction of test samples that a logistic regression labels correctly.

    Features are standardized on the training samples, so that the same penalty suits all layers.

    Args:
        train, test: [N, H] float32 each, features of N samples.
        train_labels, test_labels: [N] int64 each, label ids.

    Raises:
        BitcipherError: if all training samples have the same label.
    """
    if len(np.unique(train_labels)) < 2:
        raise BitcipherError("All training words have the same label; a probe needs at least two labels.")
    probe = make_pipeline(StandardScaler(), LogisticRegression(max_iter=MAX_ITERATIONS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        probe.fit(train, train_labels)
    return float(probe.score(test, test_labels))
