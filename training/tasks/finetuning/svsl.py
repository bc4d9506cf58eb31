"""Stochastic variability-simplification loss (Ben-Shaul & Dekel 2022, section 4.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor
from torch.nn import functional
from transformers import PreTrainedModel

from training.tasks.finetuning.head_states import head_states
from training.tasks.finetuning.losses import ClassificationLoss


@dataclass(frozen=True)
class VariabilityLoss(ClassificationLoss):
    """Cross-entropy, and the squared distances of hidden states from the means of their classes in the batch.

    The classes are those of the whole batch (see `training.loop.step`). Evaluations report the cross-entropy.
    """

    compares_validation_rows: ClassVar[bool] = False

    weight: float
    """Weight α of the squared distances, which are summed over layers."""
    first_layer: int
    """First layer γ whose states are compared; 0 for the embeddings."""

    def row_outputs(self, model: PreTrainedModel, batch: Mapping[str, Tensor]) -> tuple[Tensor, ...]:
        """Return the logits [B, classes], the states [B, layers, H] of the layers from γ on, and the labels [B]."""
        states, logits = head_states(model, batch)
        return logits, states[self.first_layer :].transpose(0, 1), batch["labels"]

    def batch_loss(self, outputs: Sequence[Tensor]) -> Tensor:
        """Return the sum of the losses of all rows from the outputs of `row_outputs`."""
        logits, states, labels = outputs
        classes, of_rows = labels.unique(return_inverse=True)
        counts = of_rows.bincount(minlength=len(classes)).to(states)
        sums = states.new_zeros(len(classes), *states.shape[1:]).index_add(0, of_rows, states)
        means = sums / counts[:, None, None]
        distances = (states - means[of_rows]).square().sum()
        return functional.cross_entropy(logits, labels, reduction="sum") + self.weight * distances

    def loss(self, model: PreTrainedModel, batch: Mapping[str, Tensor]) -> Tensor:
        """Return the sum of the losses of rows that are a whole batch."""
        return self.batch_loss(self.row_outputs(model, batch))
