"""Losses of tasks. They are sums over targets; the loop divides by the number of targets (see `SummedLoss`)."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from transformers import PreTrainedModel
from transformers.utils import ModelOutput

from training.loop.step import SummedLoss
from training.models.parts import MODEL_INPUTS
from training.tasks.base import IGNORED, Kind


class _TaskLoss:
    """Loss of a task; subclasses define the losses of rows."""

    metrics: ClassVar[tuple[str, ...]] = ("validation_loss",)

    def count_targets(self, batch: Mapping[str, np.ndarray]) -> int:
        """Return the number of targets."""
        raise NotImplementedError

    def row_losses(self, model: PreTrainedModel, batch: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Return the sum of the losses and the number of targets of each row, [B] each."""
        raise NotImplementedError

    def loss(self, model: PreTrainedModel, batch: Mapping[str, Tensor]) -> Tensor:
        """Return the sum of the losses."""
        return self.row_losses(model, batch)[0].sum()

    def row_sums(self, model: PreTrainedModel, batch: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the sum and the number of the losses of each row, [B, 2]."""
        return {"validation_loss": torch.stack(self.row_losses(model, batch), dim=1)}


class ClassificationLoss(_TaskLoss):
    """Cross-entropy of one label per row, in nats."""

    def count_targets(self, batch: Mapping[str, np.ndarray]) -> int:
        """Return the number of rows."""
        return len(batch["labels"])

    def row_losses(self, model: PreTrainedModel, batch: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Return the cross-entropy of each row."""
        losses = functional.cross_entropy(model_logits(model, batch)["logits"], batch["labels"], reduction="none")
        return losses, torch.ones_like(losses)


class RegressionLoss(_TaskLoss):
    """Squared error of one value per row."""

    def count_targets(self, batch: Mapping[str, np.ndarray]) -> int:
        """Return the number of rows."""
        return len(batch["labels"])

    def row_losses(self, model: PreTrainedModel, batch: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Return the squared error of each row."""
        losses = functional.mse_loss(model_logits(model, batch)["logits"][:, 0], batch["labels"], reduction="none")
        return losses, torch.ones_like(losses)


class AnswerSpanLoss(_TaskLoss):
    """Cross-entropies of the first and last token of an answer, in nats."""

    def count_targets(self, batch: Mapping[str, np.ndarray]) -> int:
        """Return twice the number of rows."""
        return 2 * len(batch["start_positions"])

    def row_losses(self, model: PreTrainedModel, batch: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Return the sum of both cross-entropies. Padding is masked, so its amount does not change the loss."""
        logits, is_padding = model_logits(model, batch), batch["attention_mask"] == 0
        start, end = (
            functional.cross_entropy(
                logits[f"{side}_logits"].masked_fill(is_padding, -torch.inf),
                batch[f"{side}_positions"],
                reduction="none",
            )
            for side in ("start", "end")
        )
        return start + end, torch.full_like(start, 2)


class TokenClassificationLoss(_TaskLoss):
    """Cross-entropy of the label of each labeled token, in nats."""

    def count_targets(self, batch: Mapping[str, np.ndarray]) -> int:
        """Return the number of labeled tokens."""
        return int((batch["labels"] != IGNORED).sum())

    def row_losses(self, model: PreTrainedModel, batch: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Return the sum of the cross-entropies of each row."""
        logits, labels = model_logits(model, batch)["logits"], batch["labels"]
        losses = functional.cross_entropy(logits.transpose(1, 2), labels, ignore_index=IGNORED, reduction="none")
        return losses.sum(1), (labels != IGNORED).sum(1).to(losses)


LOSSES: dict[Kind, SummedLoss] = {
    "classification": ClassificationLoss(),
    "regression": RegressionLoss(),
    "question-answering": AnswerSpanLoss(),
    "token-classification": TokenClassificationLoss(),
}


def model_logits(model: PreTrainedModel, batch: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return `logits`, or `start_logits` and `end_logits`, of a batch in float32."""
    outputs: ModelOutput = model(**{name: batch[name] for name in MODEL_INPUTS if name in batch})
    return {name: values.float() for name, values in outputs.items() if name.endswith("logits")}
