"""Masked language modelling with next-sentence prediction (Devlin et al. 2019, section 3.1)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from torch.nn import functional

from bitcipher.errors import BitcipherError
from training.counter_rng import key_of, uniforms
from training.models import hidden_states, sentence_logits
from training.objectives.base import BatchContext
from training.objectives.losses import summed_loss
from training.objectives.masked import MaskedLM, joined

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel


@dataclass(frozen=True)
class NextSentence(MaskedLM):
    """Masked language modelling of two pieces of text, and the question whether the second one follows the first.

    An example is the begin token, the first half of a sequence, the end token, a second half, and the end token. In
    one row of two the second half is that of another sequence, every other one being as likely.

    The targets are the hidden tokens. A row's sentence loss counts as often as the row has hidden tokens: divided by
    all of them, the sentence losses are a mean of weight 1 beside the mean of the masked losses, as in BERT. So the
    sum of a batch is still that of its rows, however they are shared out.
    """

    families: ClassVar[tuple[str, ...]] = ("bert",)
    sentence_head: ClassVar[bool] = True

    def text_length(self, length: int) -> int:
        """All positions but those of the begin token and two end tokens."""
        if length < 5:
            raise BitcipherError(f"Examples with a next sentence need at least 5 positions, not {length}.")
        return length - 3

    def batch(self, draw: BatchContext) -> dict[str, np.ndarray]:
        """Pairs of texts with hidden tokens.

        Returns:
            As `MaskedLM.batch`, and `token_type_ids` [B, length] int64, 0 up to the first end token and then 1;
            `is_random` [B] int64, 1 where the second half is another sequence's; `sentence_weights` [B] float32, the
            hidden tokens of each row.
        """
        text = draw.sequences.take(draw.numbers)
        half = text.shape[1] // 2
        is_random, partners = self._partners(draw)
        second = draw.sequences.take(partners)[:, half:]
        end = draw.tokens.end
        examples = joined(draw.tokens.begin, text[:, :half], end, second, end)
        batch = self.hide(examples, draw)
        types = np.tile(np.arange(examples.shape[1]) >= half + 2, (len(examples), 1))
        hidden_in_row = np.bincount(batch["positions"] // examples.shape[1], minlength=len(examples))
        return batch | {
            "token_type_ids": types.astype(np.int64),
            "is_random": is_random.astype(np.int64),
            "sentence_weights": hidden_in_row.astype(np.float32),
        }

    def _partners(self, draw: BatchContext) -> tuple[np.ndarray, np.ndarray]:
        """[B] bool and int64: whether the second half is another sequence's, and which sequence's."""
        others = len(draw.sequences) - 1
        if others < 1:
            raise BitcipherError("Next-sentence prediction needs two sequences or more: take more text.")
        chances = uniforms(key_of(draw.key, "second half"), self.chance_rows(draw), 2)
        is_random = chances[:, 0] < 0.5
        steps = 1 + (chances[:, 1] * others).astype(np.int64)
        return is_random, np.where(is_random, (draw.numbers + steps) % (others + 1), draw.numbers)

    def loss(self, model: "PreTrainedModel", batch: Mapping[str, "Tensor"]) -> "Tensor":
        """The sum over hidden tokens, with each row's sentence loss as often as it has hidden tokens."""
        hidden = hidden_states(model, batch)
        masked = hidden.flatten(0, 1).index_select(0, batch["positions"])
        sentences = functional.cross_entropy(
            sentence_logits(model, hidden).float(), batch["is_random"], reduction="none"
        )
        return summed_loss(model, masked, batch["labels"]) + (sentences * batch["sentence_weights"]).sum()
