"""Replaced-token detection (Clark et al. 2020, section 2, ELECTRA; He et al. 2021, section 3, DeBERTaV3)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from bitcipher.files.records import Float
from training.data.counter_rng import derive_key, uniform
from training.models.losses import rows_of, summed_loss_and_samples, sums_of_rows
from training.models.options import ENCODERS
from training.objectives.base import BatchContext
from training.objectives.masked import MaskedLM

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel


class ReplacedTokens(MaskedLM):
    """Predict masked tokens with a generator, and detect with a discriminator which tokens its samples have changed.

    The generator's examples are those of `MaskedLM`. At the masked positions, the discriminator gets tokens that are
    sampled from the generator's predictions. A sample that equals the original token counts as original. The
    discriminator classifies all tokens; samples have no gradient.

    The targets are the masked tokens. The mean detection loss of a row is weighted by `discriminator_weight` times the
    number of its masked tokens, so after division by the number of targets, the loss is the mean masked loss plus
    `discriminator_weight` times the mean detection loss. The sum over a batch does not depend on how its rows are split
    between workers.
    """

    metrics: ClassVar[tuple[str, ...]] = (
        *("validation_loss", "perplexity", "masked_accuracy"),
        *("detection_loss", "detection_accuracy", "replaced_accuracy"),
    )
    architectures: ClassVar[tuple[str, ...]] = ENCODERS
    needs_generator: ClassVar[bool] = True
    can_mask_documents: ClassVar[bool] = False

    replacement: Literal["bert", "always"] = "always"
    """Input of the generator at selected tokens: `always` the mask token, or `bert` (80 % the mask token, 10 % a random
    token, 10 % unchanged)."""
    discriminator_weight: Float = Field(50.0, gt=0)
    """Weight λ of the discriminator's loss."""

    def make_batch(self, context: BatchContext) -> dict[str, np.ndarray]:
        """Return examples with masked tokens.

        Returns:
            The arrays of `MaskedLM.make_batch`; `original_ids` [B, length] int64, the examples without masks; `draws`
            [M] float32, a random number of each masked token for the sample at its position.
        """
        batch = super().make_batch(context)
        original = batch["input_ids"].copy()
        np.put(original, batch["positions"], batch["labels"])
        draws = uniform(derive_key(context.rng_key, "sample"), self.rng_rows(context), original.shape[1])
        return batch | {"original_ids": original, "draws": draws.ravel()[batch["positions"]].astype(np.float32)}

    def loss(self, model: "PreTrainedModel", batch: Mapping[str, "Tensor"]) -> "Tensor":
        """Return the sum of the masked losses and the weighted detection losses."""
        generated = _generate(model, batch)
        logits = model.detect(generated.input_ids).float()
        losses = _detection_losses(logits, generated.is_replaced).mean(dim=1)
        return generated.loss + (self._weights(batch) * losses).sum()

    def row_sums(self, model: "PreTrainedModel", batch: Mapping[str, "Tensor"]) -> dict[str, "Tensor"]:
        """Return losses and correct guesses of the generator and of the discriminator of each row."""
        import torch  # not at the top: this module is imported to check options

        from training.models import parts

        n_rows, length = batch["input_ids"].shape
        generator = parts.find_generator(model)
        masked, correct = self.score_masked(generator, parts.hidden_states(generator, batch), batch)
        generated = _generate(model, batch)
        is_replaced = generated.is_replaced.flatten()
        logits = model.detect(generated.input_ids).float().flatten()
        losses, is_correct = _detection_losses(logits, is_replaced), (logits > 0) == is_replaced
        rows = rows_of(generated.input_ids)
        detection = sums_of_rows(losses, rows, n_rows)
        weighted = self._weights(batch).double() * detection[:, 0] / length
        return {
            "validation_loss": masked + torch.stack([weighted, torch.zeros_like(weighted)], dim=1),
            "perplexity": masked,
            "masked_accuracy": correct,
            "detection_loss": detection,
            "detection_accuracy": sums_of_rows(is_correct, rows, n_rows),
            "replaced_accuracy": sums_of_rows(is_correct[is_replaced], rows[is_replaced], n_rows),
        }

    def _weights(self, batch: Mapping[str, "Tensor"]) -> "Tensor":
        """Return λ times the number of masked tokens of each row, [B] float32."""
        n_rows, length = batch["input_ids"].shape
        rows = batch["positions"] // length
        return self.discriminator_weight * rows.bincount(minlength=n_rows).float()


class _Generated(NamedTuple):
    loss: "Tensor"
    """Sum of the masked losses."""
    input_ids: "Tensor"
    """[B, S] int64: inputs of the discriminator."""
    is_replaced: "Tensor"
    """[B, S] bool: whether an input differs from the original."""


def _generate(model: "PreTrainedModel", batch: Mapping[str, "Tensor"]) -> _Generated:
    """Predict the masked tokens, and replace them with samples."""
    from training.models import parts

    generator, positions = parts.find_generator(model), batch["positions"]
    hidden = parts.hidden_states(generator, batch).flatten(0, 1).index_select(0, positions)
    loss, samples = summed_loss_and_samples(generator, hidden, batch["labels"], batch["draws"])
    original = batch["original_ids"]
    inputs = original.flatten().index_copy(0, positions, samples).view_as(original)
    return _Generated(loss, inputs, inputs != original)


def _detection_losses(logits: "Tensor", is_replaced: "Tensor") -> "Tensor":
    from torch.nn import functional

    return functional.binary_cross_entropy_with_logits(logits, is_replaced.float(), reduction="none")
