"""The center of each class in each layer, and which of them is nearest: batch by batch, whatever there is in all."""

from collections.abc import Iterable

import numpy as np


def class_means(batches: Iterable[tuple[np.ndarray, np.ndarray]], classes: int) -> np.ndarray:
    """The mean of each class's features in each layer.

    Args:
        batches: features [layers, N, H] and the class of each sample, [N] int64 below `classes`; all of the same layers
            and width.
        classes: how many there are.

    Returns:
        [layers, classes, H] float64; NaN for a class without a sample.
    """
    sums: np.ndarray | None = None
    counts = np.zeros(classes)
    for features, labels in batches:
        if sums is None:
            sums = np.zeros((len(features), classes, features.shape[2]))
        counts += np.bincount(labels, minlength=classes)
        for layer, states in zip(sums, features, strict=True):
            np.add.at(layer, labels, states)
    if sums is None:
        raise ValueError("There are no batches to take centers of.")
    with np.errstate(invalid="ignore"):
        return sums / counts[:, None]


def nearest_class_means(features: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """The class with the nearest center, by Euclidean distance, of each sample in each layer.

    Args:
        features: [layers, N, H].
        centers: of `class_means`, [layers, classes, H].

    Returns:
        [layers, N] int64; the first of those that are equally near.
    """
    found = []
    for states, middle in zip(features, centers, strict=True):
        # The square of a distance without what all classes have in common. A class without samples is never near.
        distances = np.square(middle).sum(axis=1) - 2 * states.astype(np.float64) @ middle.T
        found.append(np.where(np.isnan(distances), np.inf, distances).argmin(axis=1))
    return np.stack(found)
