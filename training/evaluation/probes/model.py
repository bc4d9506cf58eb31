"""Probe of Zhao & Williams (2023), *Bit Cipher*, section 4.2: two layers between a word's vector and its label."""

import torch
from torch import nn

# Number of hidden units, selected on validation splits; see README.md.
HIDDEN = 256

# Probability of zeroing a hidden unit during training, as in *Bit Cipher*.
DROPOUT = 0.5


def make_probe(dimensions: int, num_labels: int) -> nn.Module:
    """Return an untrained probe that maps (n, dimensions) float32 to (n, num_labels) log-probabilities."""
    return nn.Sequential(
        nn.Linear(dimensions, HIDDEN),
        nn.LeakyReLU(),
        nn.Dropout(DROPOUT),
        nn.Linear(HIDDEN, num_labels),
        nn.LogSoftmax(dim=1),
    )


@torch.no_grad()
def predict(probe: nn.Module, features: torch.Tensor) -> torch.Tensor:
    """Return the index of the most likely label of each row of features, (n,) int64."""
    probe.eval()
    return probe(features).argmax(dim=1)
