"""Next-token prediction (Radford et al. 2018, equation 1)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from bitcipher.errors import BitcipherError
from training.models import hidden_states
from training.objectives.base import BatchContext
from training.objectives.losses import summed_loss

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel


@dataclass(frozen=True)
class CausalLM:
    """Each token is to be predicted from those before it.

    The text is read as it is packed: several documents may stand in a sequence, each closed by the end token.
    """

    families: ClassVar[tuple[str, ...]] = ("gpt2", "opt")
    sentence_head: ClassVar[bool] = False

    def text_length(self, length: int) -> int:
        """One token more than positions: the last one is only predicted, the first only read."""
        if length < 1:
            raise BitcipherError(f"Causal examples need at least 1 position, not {length}.")
        return length + 1

    def batch(self, draw: BatchContext) -> dict[str, np.ndarray]:
        """Text, and the same text one token later.

        Returns:
            `input_ids` and `labels`, [B, length] int64.
        """
        text = draw.sequences.take(draw.numbers)
        return {"input_ids": text[:, :-1].copy(), "labels": text[:, 1:].copy()}

    def targets(self, batch: Mapping[str, np.ndarray]) -> int:
        """Every position predicts."""
        return batch["labels"].size

    def loss(self, model: "PreTrainedModel", batch: Mapping[str, "Tensor"]) -> "Tensor":
        """The sum over all positions."""
        return summed_loss(model, hidden_states(model, batch).flatten(0, 1), batch["labels"].flatten())
