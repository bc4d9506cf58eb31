"""The loop's examples of a task."""

from dataclasses import dataclass, fields

import numpy as np

from training.data import Order
from training.loop import Batch
from training.tasks.base import IGNORED, Features


@dataclass(frozen=True)
class TaskExamples:
    """The rows of a task in an order of their own each epoch: see `training.loop.Examples`."""

    train: Features
    """See `with_targets`."""
    validation: Features
    seed: int

    @property
    def held_out_size(self) -> int:
        """See `Examples`."""
        return len(self.validation)

    def training(self, positions: np.ndarray) -> Batch:
        """See `Examples`."""
        return rows_of(self.train, Order(len(self.train), self.seed).numbers(positions))

    def held_out(self, numbers: np.ndarray) -> Batch:
        """See `Examples`."""
        return rows_of(self.validation, numbers)


def rows_of(features: Features, numbers: np.ndarray) -> Batch:
    """Rows of a task as a model takes them: whole numbers as int64, without padding that they all have.

    Args:
        features: inputs and targets of N rows of S tokens.
        numbers: [B], which rows.

    Returns:
        [B, T] each, or [B] for targets of whole rows; T is the length of the longest of them.
    """
    longest = int(features.inputs["attention_mask"][numbers].sum(axis=1).max())
    batch = {}
    for name, values in (features.inputs | features.targets).items():
        chosen = values[numbers] if values.ndim == 1 else values[numbers, :longest]
        batch[name] = chosen.astype(np.int64) if np.issubdtype(chosen.dtype, np.integer) else chosen
    return batch


def with_targets(features: Features) -> Features:
    """The rows from which there is something to learn: a long sentence may have one without a labeled word."""
    labels = features.targets.get("labels")
    if labels is None or labels.ndim == 1:
        return features
    kept = (labels != IGNORED).any(axis=1)
    chosen = {
        field.name: {name: values[kept] for name, values in getattr(features, field.name).items()}
        for field in fields(features)
        if field.name != "remarks"
    }
    return Features(**chosen, remarks=features.remarks)
