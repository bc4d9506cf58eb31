"""Probe of Zhao & Williams (2023), *Bit Cipher*, section 4.2: two layers between a word's vector and its label."""

import torch
from torch import nn

# Hidden sizes from 128 to 1,024 were compared on validation splits; see README.md.
HIDDEN = 256

DROPOUT = 0.5


def make_probe(dimensions: int, labels: int) -> nn.Module:
    """Return an untrained probe from (n, dimensions) float32 to (n, labels) log-probabilities."""
    return nn.Sequential(
        nn.Linear(dimensions, HIDDEN),
        nn.LeakyReLU(),
        nn.Dropout(DROPOUT),
        nn.Linear(HIDDEN, labels),
        nn.LogSoftmax(dim=1),
    )


@torch.no_grad()
def predict(probe: nn.Module, features: torch.Tensor) -> torch.Tensor:
    """Return the most likely label of each row, (n,) int64."""
    probe.eval()
    return probe(features).argmax(dim=1)
