"""The six losses against their definitions, and training with each of them."""

import numpy as np
import pytest
import torch

from training.studies.byte_embeddings.losses import alignment_loss
from training.studies.byte_embeddings.options import LOSSES, AlignmentOptions


def cosine(x, y):
    return x @ y / np.linalg.norm(x) / np.linalg.norm(y)


DEFINITIONS = {
    "mse": lambda x, y, n, a, m: np.mean((x - y) ** 2),
    "cosine": lambda x, y, n, a, m: 1 - cosine(x, y),
    "additive_euclidean_cosine": lambda x, y, n, a, m: np.linalg.norm(x - y) + a * (1 - cosine(x, y)),
    "multiplicative_euclidean_cosine": lambda x, y, n, a, m: (
        a * np.linalg.norm(x - y) * (1 - cosine(x, y)) + np.linalg.norm(x - y)
    ),
    "triplet_euclidean": lambda x, y, n, a, m: max(np.sum((x - y) ** 2) - np.sum((x - n) ** 2) + m, 0),
    "triplet_angular": lambda x, y, n, a, m: max(cosine(x, n) - cosine(x, y) + m, 0),
}


@pytest.mark.parametrize("loss", LOSSES)
def test_loss_is_the_mean_of_its_definition(loss):
    vectors, targets, negatives = np.random.default_rng(1).normal(size=(3, 7, 5))
    options = AlignmentOptions(loss=loss, alpha=0.7, margin=0.4)
    found = alignment_loss(options, *map(torch.from_numpy, (vectors, targets, negatives)))
    rows = zip(vectors, targets, negatives, strict=True)
    assert float(found) == pytest.approx(np.mean([DEFINITIONS[loss](*row, 0.7, 0.4) for row in rows]))
