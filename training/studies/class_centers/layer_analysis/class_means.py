"""Class means of each layer and nearest-class-mean classification, in batches."""

from collections.abc import Iterable

import numpy as np


def class_means(batches: Iterable[tuple[np.ndarray, np.ndarray]], n_classes: int) -> np.ndarray:
    """Return the mean of each class's features in each layer.

    Args:
        batches: features [layers, N, H] of N samples, and their class ids [N] int64 below `n_classes`. All batches have
            the same number of layers and the same hidden size H.
        n_classes: number of classes.

    Returns:
        [layers, n_classes, H] float64; NaN for a class without a sample.
    """
    sums: np.ndarray | None = None
    counts = np.zeros(n_classes)
    for features, labels in batches:
        if sums is None:
            sums = np.zeros((len(features), n_classes, features.shape[2]))
        counts += np.bincount(labels, minlength=n_classes)
        for layer, states in zip(sums, features, strict=True):
            np.add.at(layer, labels, states)
    if sums is None:
        raise ValueError("There are no batches to compute class means of.")
    with np.errstate(invalid="ignore"):
        return sums / counts[:, None]


def nearest_class_means(features: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Return the class with the nearest mean (Euclidean distance), for each sample in each layer.

    Args:
        features: [layers, N, H], features of N samples.
        centers: [layers, n_classes, H], class means.

    Returns:
        [layers, N] int64, class ids; the lowest id if several means are equally near.
    """
    nearest = []
    for states, means in zip(features, centers, strict=True):
        # Squared distances without the term that all classes share. A class without samples is never the nearest.
        distances = np.square(means).sum(axis=1) - 2 * states.astype(np.float64) @ means.T
        nearest.append(np.where(np.isnan(distances), np.inf, distances).argmin(axis=1))
    return np.stack(nearest)
