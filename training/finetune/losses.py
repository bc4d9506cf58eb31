"""Losses of tasks, which the loop takes like objectives: sums, and by how many targets to divide them."""

from collections.abc import Mapping
from typing import Protocol

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from transformers import PreTrainedModel
from transformers.utils import ModelOutput

from training.tasks.base import IGNORED, Kind

_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


class TaskLoss(Protocol):
    """What the loop asks of an objective."""

    def targets(self, batch: Mapping[str, np.ndarray]) -> int:
        """How many predictions a batch asks for."""

    def loss(self, model: PreTrainedModel, batch: Mapping[str, Tensor]) -> Tensor:
        """The sum of the losses of all predictions, float32."""


class LabelLoss:
    """Cross-entropy of a label for each row, in nats."""

    def targets(self, batch: Mapping[str, np.ndarray]) -> int:
        """See `TaskLoss`."""
        return len(batch["labels"])

    def loss(self, model: PreTrainedModel, batch: Mapping[str, Tensor]) -> Tensor:
        """See `TaskLoss`."""
        return functional.cross_entropy(outputs_of(model, batch)["logits"], batch["labels"], reduction="sum")


class ValueLoss:
    """Squared error of a value for each row."""

    def targets(self, batch: Mapping[str, np.ndarray]) -> int:
        """See `TaskLoss`."""
        return len(batch["labels"])

    def loss(self, model: PreTrainedModel, batch: Mapping[str, Tensor]) -> Tensor:
        """See `TaskLoss`."""
        return functional.mse_loss(outputs_of(model, batch)["logits"][:, 0], batch["labels"], reduction="sum")


class SpanLoss:
    """Cross-entropies of the first and the last token of an answer, in nats: two targets a row."""

    def targets(self, batch: Mapping[str, np.ndarray]) -> int:
        """See `TaskLoss`."""
        return 2 * len(batch["start_positions"])

    def loss(self, model: PreTrainedModel, batch: Mapping[str, Tensor]) -> Tensor:
        """See `TaskLoss`; padding is no choice, so that it does not matter how much there is."""
        outputs, padding = outputs_of(model, batch), batch["attention_mask"] == 0
        losses = [
            functional.cross_entropy(
                outputs[f"{side}_logits"].masked_fill(padding, -torch.inf), batch[f"{side}_positions"], reduction="sum"
            )
            for side in ("start", "end")
        ]
        return losses[0] + losses[1]


class TokenLoss:
    """Cross-entropy of a label for each token that has one, in nats."""

    def targets(self, batch: Mapping[str, np.ndarray]) -> int:
        """See `TaskLoss`."""
        return int((batch["labels"] != IGNORED).sum())

    def loss(self, model: PreTrainedModel, batch: Mapping[str, Tensor]) -> Tensor:
        """See `TaskLoss`."""
        logits = outputs_of(model, batch)["logits"].flatten(0, 1)
        return functional.cross_entropy(logits, batch["labels"].flatten(), ignore_index=IGNORED, reduction="sum")


LOSSES: dict[Kind, TaskLoss] = {
    "classification": LabelLoss(),
    "regression": ValueLoss(),
    "question-answering": SpanLoss(),
    "token-classification": TokenLoss(),
}


def outputs_of(model: PreTrainedModel, batch: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """`logits`, or `start_logits` and `end_logits`, float32, of what a batch has for the model."""
    outputs: ModelOutput = model(**{name: batch[name] for name in _INPUTS if name in batch})
    return {name: values.float() for name, values in outputs.items() if name.endswith("logits")}
