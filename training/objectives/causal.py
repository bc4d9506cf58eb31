"""Causal language modeling: next-token prediction (Radford et al. 2018, equation 1)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from bitcipher.errors import BitcipherError
from training.models.losses import rows_of, score_tokens, summed_loss, sums_of_rows
from training.models.options import DECODERS
from training.objectives.base import BatchContext, Objective, documents_of

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel


class CausalLM(Objective):
    """Predict each token from the preceding tokens.

    A sequence is a slice of the token stream. It can contain several documents, each followed by the end token.
    """

    architectures: ClassVar[tuple[str, ...]] = DECODERS

    document_mask: bool = False
    """Attend only to tokens of the same document, and count positions from its start. By default, tokens attend to all
    tokens before them, also to those of other documents."""

    def text_length(self, length: int) -> int:
        """Return `length` + 1, because the first token is only an input, and the last token is only a label."""
        if length < 1:
            raise BitcipherError(f"Causal examples need at least 1 position, got {length}.")
        return length + 1

    def make_batch(self, context: BatchContext) -> dict[str, np.ndarray]:
        """Return `input_ids` and `labels`, [B, length] int64; the labels are the text shifted by one token.

        With `document_mask`, also `document_ids` [B, length] int64.
        """
        text = context.sequences.take(context.sequence_ids)
        batch = {"input_ids": text[:, :-1].copy(), "labels": text[:, 1:].copy()}
        if self.document_mask:
            batch["document_ids"] = documents_of(batch["input_ids"], context.special_tokens.end)
        return batch

    def count_targets(self, batch: Mapping[str, np.ndarray]) -> int:
        """Return the number of positions."""
        return batch["labels"].size

    def loss(self, model: "PreTrainedModel", batch: Mapping[str, "Tensor"]) -> "Tensor":
        """Return the sum of the cross-entropies of all positions."""
        from training.models import parts

        return summed_loss(model, parts.hidden_states(model, batch).flatten(0, 1), batch["labels"].flatten())

    def row_sums(self, model: "PreTrainedModel", batch: Mapping[str, "Tensor"]) -> dict[str, "Tensor"]:
        """Return the cross-entropies of all positions of each row."""
        from training.models import parts

        labels = batch["labels"]
        losses, _ = score_tokens(model, parts.hidden_states(model, batch).flatten(0, 1), labels.flatten())
        return dict.fromkeys(self.metrics, sums_of_rows(losses, rows_of(labels), len(labels)))
