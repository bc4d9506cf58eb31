"""Accuracy of classes that are read from embeddings, and tables of it."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from bitcipher.files.markdown import format_table
from training.studies.class_centers.layer_analysis.class_means import class_means, nearest_class_means
from training.studies.class_centers.layer_analysis.linear_probe import probe_accuracy

MOST_FREQUENT = "most frequent label"


class ClassAccuracy(NamedTuple):
    """Accuracy of one embedding at one level of labels, in percent."""

    nearest_center: float
    """Of the nearest class mean of training sentences."""
    linear_probe: float
    """Of a logistic regression on standardized embeddings."""


# Accuracies by the name of the embedding and that of the level.
Accuracies = Mapping[str, Mapping[str, ClassAccuracy]]


def measure_classes(
    train: np.ndarray, train_labels: np.ndarray, test: np.ndarray, test_labels: np.ndarray
) -> ClassAccuracy:
    """Return the accuracy of the classes of test sentences.

    Args:
        train, test: [N, H] float32 each, embeddings of N sentences.
        train_labels, test_labels: [N] strings each. Labels that no training sentence has count as errors.

    Raises:
        BitcipherError: if all training sentences have the same label.
    """
    labels, numbers = np.unique(np.concatenate([train_labels, test_labels]), return_inverse=True)
    train_numbers, test_numbers = np.split(numbers, [len(train_labels)])
    centers = class_means([(train[None], train_numbers)], len(labels))
    nearest = nearest_class_means(test[None], centers)[0]
    probed = probe_accuracy(train, train_numbers, test, test_numbers)
    return ClassAccuracy(100 * float((nearest == test_numbers).mean()), 100 * probed)


def most_frequent_accuracy(train_labels: np.ndarray, test_labels: np.ndarray) -> float:
    """Return the percentage of test sentences with the most frequent label of training sentences."""
    labels, counts = np.unique(train_labels, return_counts=True)
    return 100 * float((test_labels == labels[counts.argmax()]).mean())


def accuracy_table(accuracies: Accuracies, most_frequent: Mapping[str, float]) -> str:
    """Return a Markdown table with a row per embedding and two columns per level.

    Args:
        accuracies: accuracies of each embedding.
        most_frequent: accuracy of the most frequent label at each level.
    """
    header = ["embeddings"]
    for level in most_frequent:
        header += [f"{level}: nearest center", f"{level}: linear probe"]
    rows = [
        [name, *(f"{value:.1f}" for accuracy in levels.values() for value in accuracy)]
        for name, levels in accuracies.items()
    ]
    rows.append([MOST_FREQUENT, *(f"{value:.1f}" for value in most_frequent.values() for _ in range(2))])
    return format_table(header, rows)
