"""Masked language modeling with next-sentence prediction (Devlin et al. 2019, section 3.1)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from bitcipher.errors import BitcipherError
from training import models
from training.counter_rng import derive_key, uniform
from training.objectives.base import BatchContext
from training.objectives.losses import summed_loss
from training.objectives.masked import MaskedLM, concat_columns

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel


class NextSentence(MaskedLM):
    """Predict masked tokens of two segments, and whether the second segment follows the first.

    An example is the begin token, the first half of a sequence, the end token, a second half, and the end token. In
    half of the rows, the second half comes from another sequence, drawn uniformly.

    The targets are the masked tokens. The sentence loss of a row is weighted by the number of masked tokens in the row.
    After division by the number of targets, the mean sentence loss therefore has the same weight as the mean masked
    loss, as in BERT. The sum over a batch does not depend on how its rows are split between workers.
    """

    architectures: ClassVar[tuple[str, ...]] = ("bert",)
    needs_next_sentence_head: ClassVar[bool] = True

    def text_length(self, length: int) -> int:
        """Return `length` without the begin token and the two end tokens."""
        if length < 5:
            raise BitcipherError(f"Next-sentence examples need at least 5 positions, got {length}.")
        return length - 3

    def make_batch(self, context: BatchContext) -> dict[str, np.ndarray]:
        """Return pairs of segments with masked tokens.

        Returns:
            The arrays of `MaskedLM.make_batch`; `token_type_ids` [B, length] int64, 0 up to the first end token and
            then 1; `is_random` [B] int64, 1 if the second half comes from another sequence; `sentence_weights` [B]
            float32, the number of masked tokens of each row.
        """
        text = context.sequences.take(context.sequence_ids)
        half = text.shape[1] // 2
        is_random, second_ids = self._draw_second_halves(context)
        second = context.sequences.take(second_ids)[:, half:]
        end = context.special_tokens.end
        examples = concat_columns(context.special_tokens.begin, text[:, :half], end, second, end)
        batch = self.mask_tokens(examples, context)
        types = np.tile(np.arange(examples.shape[1]) >= half + 2, (len(examples), 1))
        masked_per_row = np.bincount(batch["positions"] // examples.shape[1], minlength=len(examples))
        return batch | {
            "token_type_ids": types.astype(np.int64),
            "is_random": is_random.astype(np.int64),
            "sentence_weights": masked_per_row.astype(np.float32),
        }

    def _draw_second_halves(self, context: BatchContext) -> tuple[np.ndarray, np.ndarray]:
        """Return [B] bool, whether the second half is random, and [B] int64, the sequence that it comes from."""
        n_others = len(context.sequences) - 1
        if n_others < 1:
            raise BitcipherError("Next-sentence prediction needs at least two sequences; provide more text.")
        draws = uniform(derive_key(context.rng_key, "second half"), self.rng_rows(context), 2)
        is_random = draws[:, 0] < 0.5
        steps = 1 + (draws[:, 1] * n_others).astype(np.int64)
        return is_random, np.where(is_random, (context.sequence_ids + steps) % (n_others + 1), context.sequence_ids)

    def loss(self, model: "PreTrainedModel", batch: Mapping[str, "Tensor"]) -> "Tensor":
        """Return the sum of the masked losses and the weighted sentence losses."""
        from torch.nn import functional  # not at the top: this module is imported to check options

        hidden = models.hidden_states(model, batch)
        masked = hidden.flatten(0, 1).index_select(0, batch["positions"])
        sentence_losses = functional.cross_entropy(
            models.sentence_logits(model, hidden).float(), batch["is_random"], reduction="none"
        )
        return summed_loss(model, masked, batch["labels"]) + (sentence_losses * batch["sentence_weights"]).sum()
