"""`Examples`: the interface between a training loop and the source of its batches."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

Batch = dict[str, np.ndarray]


class Examples(Protocol):
    """Source of batches. The same position or id always gives the same arrays, on every worker."""

    def training_batch(self, positions: np.ndarray) -> Batch:
        """Return the training examples at positions [B] of the run, which count across steps and epochs."""
        ...

    def validation_batch(self, ids: np.ndarray) -> Batch:
        """Return the validation examples with ids [B] below `validation_size`."""
        ...

    @property
    def validation_size(self) -> int:
        """Number of validation examples."""
        ...

    @property
    def validation_sources(self) -> Sequence[str]:
        """Names of the sources to evaluate apart; empty if there are none."""
        ...

    def validation_source_numbers(self, ids: np.ndarray) -> np.ndarray:
        """Return the position [B] int64 in `validation_sources` of each validation example; 0 if that is empty."""
        ...


class EvaluatedTogether:
    """The part of `Examples` without sources to evaluate apart."""

    @property
    def validation_sources(self) -> tuple[str, ...]:
        """No sources."""
        return ()

    def validation_source_numbers(self, ids: np.ndarray) -> np.ndarray:
        """Return zeros [B]."""
        return np.zeros(len(ids), np.int64)
