"""Losses of tasks. They are sums over targets; the loop divides by the number of targets (see `SummedLoss`)."""

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from transformers import PreTrainedModel
from transformers.utils import ModelOutput

from training.loop.steps import SummedLoss
from training.models.parts import MODEL_INPUTS
from training.tasks.base import IGNORED, Kind


class ClassificationLoss:
    """Cross-entropy of one label per row, in nats."""

    def count_targets(self, batch: Mapping[str, np.ndarray]) -> int:
        """Return the number of rows."""
        return len(batch["labels"])

    def loss(self, model: PreTrainedModel, batch: Mapping[str, Tensor]) -> Tensor:
        """Return the sum of the cross-entropies."""
        return functional.cross_entropy(model_logits(model, batch)["logits"], batch["labels"], reduction="sum")


class RegressionLoss:
    """Squared error of one value per row."""

    def count_targets(self, batch: Mapping[str, np.ndarray]) -> int:
        """Return the number of rows."""
        return len(batch["labels"])

    def loss(self, model: PreTrainedModel, batch: Mapping[str, Tensor]) -> Tensor:
        """Return the sum of the squared errors."""
        return functional.mse_loss(model_logits(model, batch)["logits"][:, 0], batch["labels"], reduction="sum")


class AnswerSpanLoss:
    """Cross-entropies of the first and last token of an answer, in nats."""

    def count_targets(self, batch: Mapping[str, np.ndarray]) -> int:
        """Return twice the number of rows."""
        return 2 * len(batch["start_positions"])

    def loss(self, model: PreTrainedModel, batch: Mapping[str, Tensor]) -> Tensor:
        """Return the sum of the cross-entropies. Padding is masked, so its amount does not change the loss."""
        logits, is_padding = model_logits(model, batch), batch["attention_mask"] == 0
        start, end = (
            functional.cross_entropy(
                logits[f"{side}_logits"].masked_fill(is_padding, -torch.inf),
                batch[f"{side}_positions"],
                reduction="sum",
            )
            for side in ("start", "end")
        )
        return start + end


class TokenClassificationLoss:
    """Cross-entropy of the label of each labeled token, in nats."""

    def count_targets(self, batch: Mapping[str, np.ndarray]) -> int:
        """Return the number of labeled tokens."""
        return int((batch["labels"] != IGNORED).sum())

    def loss(self, model: PreTrainedModel, batch: Mapping[str, Tensor]) -> Tensor:
        """Return the sum of the cross-entropies."""
        logits = model_logits(model, batch)["logits"].flatten(0, 1)
        return functional.cross_entropy(logits, batch["labels"].flatten(), ignore_index=IGNORED, reduction="sum")


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
