"""A linear probe: how much of a labeling a plane between classes tells."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bitcipher.errors import BitcipherError

# Steps of L-BFGS, which has no chance in it: more change the accuracy by less than what the sample leaves open.
MOST_STEPS = 100


def probe_accuracy(train: np.ndarray, train_labels: np.ndarray, test: np.ndarray, test_labels: np.ndarray) -> float:
    """The share of test samples that a logistic regression labels rightly.

    Features are scaled to a mean of 0 and a deviation of 1 on the training samples, so that the same penalty suits all
    layers.

    Args:
        train, test: features, [N, H] float32 each.
        train_labels, test_labels: [N] int64 each.

    Raises:
        BitcipherError: if all training samples have the same label.
    """
    if len(np.unique(train_labels)) < 2:
        raise BitcipherError("All words to learn from have the same label: a probe needs two or more.")
    probe = make_pipeline(StandardScaler(), LogisticRegression(max_iter=MOST_STEPS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        probe.fit(train, train_labels)
    return float(probe.score(test, test_labels))
