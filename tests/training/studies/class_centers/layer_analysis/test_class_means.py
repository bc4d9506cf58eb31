"""Class means and nearest-class-mean classification of synthetic features."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.studies.class_centers.layer_analysis.class_means import class_means, nearest_class_means


def make_features(seed: int, spread: float, layers: int = 3, samples: int = 200, classes: int = 4, width: int = 5):
    """Return features [layers, samples, width] around one point per class, with more noise in later layers; labels."""
    random = np.random.default_rng(seed)
    labels = random.integers(classes, size=samples)
    corners = 10 * np.eye(classes, width)
    scales = spread * np.arange(layers)[:, None, None]
    return (corners[labels] + scales * random.normal(size=(layers, samples, width))).astype(np.float32), labels


def test_separated_clusters_are_classified_and_noise_is_not():
    features, labels = make_features(0, spread=0.5)
    features = np.concatenate([features, np.random.default_rng(1).normal(size=(1, *features.shape[1:]))])
    accuracy = (nearest_class_means(features, class_means([(features, labels)], 4)) == labels).mean(axis=1)
    assert accuracy[:3].tolist() == [1.0, 1.0, 1.0]
    assert accuracy[3] < 0.6


@given(st.integers(0, 99), st.lists(st.integers(0, 200), max_size=5))
def test_class_means_do_not_depend_on_batches(seed, cuts):
    features, labels = make_features(seed, spread=3.0)
    cuts = sorted(cuts)
    parts = zip(np.split(features, cuts, axis=1), np.split(labels, cuts), strict=True)
    centers = class_means(parts, 5)
    for number in range(4):
        np.testing.assert_allclose(centers[:, number], features[:, labels == number].mean(axis=1), atol=1e-5)
    assert np.isnan(centers[:, 4]).all()  # a class without samples is never the nearest
    distances = np.linalg.norm(features[:, :, None] - centers[:, None, :4], axis=-1)
    assert (nearest_class_means(features, centers) == distances.argmin(axis=2)).all()


def test_first_of_equally_near_centers_is_chosen():
    centers = np.array([[[1.0, 0.0], [-1.0, 0.0], [1.0, 0.0]]])
    features = np.array([[[0.0, 5.0], [2.0, 0.0], [-2.0, 0.0]]], np.float32)
    assert nearest_class_means(features, centers).tolist() == [[0, 0, 1]]


def test_class_means_without_batches_raise():
    with pytest.raises(ValueError, match="no batches"):
        class_means([], 2)
