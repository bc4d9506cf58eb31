"""Training and validation examples of a task."""

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from training.data.examples import Batch, EvaluatedTogether
from training.data.length_grouped_order import LengthGroupedOrder
from training.tasks.base import IGNORED, Features


@dataclass(frozen=True)
class TaskExamples(EvaluatedTogether):
    """Rows of a task, shuffled in each epoch in batches of similar lengths; implements `Examples`."""

    train: Features
    """Features of the training split, without unlabeled rows (see `drop_unlabeled_rows`)."""
    validation: Features
    """Features of the validation split."""
    seed: int
    """Seed of the order of the training rows."""
    batch_size: int
    """Number of rows of similar length that form a batch."""

    @cached_property
    def _order(self) -> LengthGroupedOrder:
        return LengthGroupedOrder(row_lengths(self.train)[:, np.newaxis], self.batch_size, self.seed)

    @property
    def validation_size(self) -> int:
        """Number of validation rows."""
        return len(self.validation)

    @property
    def tokens_per_example(self) -> int:
        """Mean number of tokens of a training row, without padding, rounded up."""
        return int(np.ceil(row_lengths(self.train).mean()))

    def count_tokens(self, n_examples: int) -> int:
        """Return the number of tokens of the first training rows of the run, without padding."""
        return self._order.sum_lengths(n_examples)

    def training_batch(self, positions: np.ndarray) -> Batch:
        """Return the training rows at positions [B] of the run, which count across steps and epochs."""
        return select_rows(self.train, self._order.sequence_ids(positions))

    def validation_batch(self, ids: np.ndarray) -> Batch:
        """Return the validation rows with ids [B] below `validation_size`."""
        return select_rows(self.validation, ids)


def row_lengths(features: Features) -> np.ndarray:
    """Return the number of tokens of each row, [N] int64."""
    return features.inputs["attention_mask"].sum(axis=1, dtype=np.int64)


def select_rows(features: Features, ids: np.ndarray) -> Batch:
    """Return rows as a batch, cut to the length of the longest selected row.

    Args:
        features: inputs and targets of N rows of S tokens.
        ids: [B] row numbers from 0 to N - 1.

    Returns:
        Arrays [B, T], or [B] for targets of whole rows; T is the length of the longest row. Integers are int64.
    """
    longest = int(features.inputs["attention_mask"][ids].sum(axis=1).max())
    batch = {}
    for name, values in (features.inputs | features.targets).items():
        selected = values[ids] if values.ndim == 1 else values[ids, :longest]
        batch[name] = selected.astype(np.int64) if np.issubdtype(selected.dtype, np.integer) else selected
    return batch


def drop_unlabeled_rows(features: Features) -> Features:
    """Drop rows without a labeled word, such as some windows of a long sentence."""
    labels = features.targets.get("labels")
    if labels is None or labels.ndim == 1:
        return features
    is_labeled = (labels != IGNORED).any(axis=1)
    selected = {
        field.name: {name: values[is_labeled] for name, values in getattr(features, field.name).items()}
        for field in fields(features)
        if field.name != "remarks"
    }
    return Features(**selected, remarks=features.remarks)
