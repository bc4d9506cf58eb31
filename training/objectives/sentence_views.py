"""Self-supervised training on two views of each sentence: dropout, masked tokens and removed spans."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from bitcipher.errors import BitcipherError
from bitcipher.files.records import Float
from training.data.counter_rng import derive_key, uniform
from training.data.examples import Batch, EvaluatedTogether
from training.data.special_tokens import SpecialTokens, special_tokens
from training.data.token_sentences import TokenSentences
from training.data.token_streams import SequenceOrder, TokenDataset
from training.models.options import ENCODERS, ModelOptions
from training.objectives.base import ExampleInputs, Objective

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel


# Begin and end token.
N_SPECIAL_TOKENS = 2


class SentenceViews(Objective):
    """Compare the projections of two views of each sentence with each other and with those of other sentences.

    A view is the begin token, the sentence without a span, some of whose tokens are masked, the end token, and padding.
    Both views are read by one forward pass, so they also differ by dropout.

    The loss is that of all sentences of a batch (see `training.loop.step`). The targets are the sentences.
    """

    architectures: ClassVar[tuple[str, ...]] = ENCODERS
    metrics: ClassVar[tuple[str, ...]] = ("validation_loss", "invariance_loss", "regularization_loss")
    needs_projector: ClassVar[bool] = True
    compares_validation_rows: ClassVar[bool] = True

    mask_probability: Float = Field(0.15, ge=0, lt=1)
    """Probability that a token of a view is masked."""
    span_fraction: Float = Field(0.2, ge=0, lt=1)
    """Length of the span that is removed from a view, as a fraction of the tokens of the sentence, rounded down."""

    def check_model(self, options: ModelOptions) -> None:
        """Check that the views of a sentence differ.

        Raises:
            BitcipherError: if there is neither dropout nor a masked token nor a removed span.
        """
        if not (options.dropout or self.mask_probability or self.span_fraction):
            raise BitcipherError(
                "Both views of a sentence would be equal; set `model.dropout`, `objective.mask_probability` or "
                "`objective.span_fraction` above 0."
            )

    def examples(self, inputs: ExampleInputs) -> "SentenceExamples":
        """Return the sentences of both splits.

        Raises:
            BitcipherError: if a split has no sentence.
        """
        return SentenceExamples(inputs.text, self, inputs.length, inputs.seed, special_tokens(inputs.text.tokenizer))

    def text_length(self, length: int) -> int:
        """Return `length` without the begin and end tokens."""
        if length <= N_SPECIAL_TOKENS:
            raise BitcipherError(f"Views of sentences need at least {N_SPECIAL_TOKENS + 1} positions, got {length}.")
        return length - N_SPECIAL_TOKENS

    def make_view_batch(
        self, sentences: Sequence[np.ndarray], row_ids: np.ndarray, rng_key: int, special_tokens: SpecialTokens
    ) -> dict[str, np.ndarray]:
        """Return two views of each sentence.

        Args:
            sentences: tokens of the B sentences, at least one each, without begin and end tokens.
            row_ids: [B] int64, position of each sentence in the run: the counter of its random numbers.
            rng_key: key of the random numbers, from `counter_rng.derive_key`.
            special_tokens: ids of the tokenizer's special tokens.

        Returns:
            `input_ids` and `attention_mask` [2 · B, S] int64, for the longest view: the first views, then the second.

        Raises:
            BitcipherError: if tokens are masked and the tokenizer has no mask token.
        """
        if self.mask_probability and special_tokens.mask is None:
            raise BitcipherError(
                "The tokenizer has no mask token; add <mask>, or set `objective.mask_probability` to 0."
            )
        longest = max(map(len, sentences))
        counters = np.concatenate([2 * row_ids, 2 * row_ids + 1])
        masks = uniform(derive_key(rng_key, "view masks"), counters, longest) < self.mask_probability
        starts = uniform(derive_key(rng_key, "view spans"), counters, 1)[:, 0]
        views = [
            self._view(tokens, is_masked[: len(tokens)], start, special_tokens)
            for tokens, is_masked, start in zip([*sentences, *sentences], masks, starts, strict=True)
        ]
        lengths = np.array([len(view) for view in views])
        is_token = np.arange(lengths.max()) < lengths[:, None]
        inputs = np.full(is_token.shape, special_tokens.pad, np.int64)
        inputs[is_token] = np.concatenate(views)
        return {"input_ids": inputs, "attention_mask": is_token.astype(np.int64)}

    def _view(self, tokens: np.ndarray, is_masked: np.ndarray, start: float, special: SpecialTokens) -> np.ndarray:
        """Return a view of a sentence. `start`, below 1, is the place of the removed span among all possible ones."""
        length = int(self.span_fraction * len(tokens))
        first = int(start * (len(tokens) - length + 1))
        shown = tokens if special.mask is None else np.where(is_masked, special.mask, tokens)
        kept = np.delete(shown, np.s_[first : first + length])
        return np.concatenate([[special.begin], kept, [special.end]])

    def count_targets(self, batch: Mapping[str, np.ndarray]) -> int:
        """Return the number of sentences."""
        return len(batch["input_ids"]) // 2

    def row_outputs(self, model: "PreTrainedModel", batch: Mapping[str, "Tensor"]) -> tuple["Tensor", ...]:
        """Return the projections of both views of each sentence, [B, 2, P] float32."""
        return (model.project(batch).float().unflatten(0, (2, -1)).transpose(0, 1),)

    def batch_loss(self, outputs: Sequence["Tensor"]) -> "Tensor":
        """Return the sum of the losses of all sentences from the outputs of `row_outputs`."""
        invariance, regularization = self.row_losses(outputs[0])
        return (invariance + regularization).sum()

    def loss(self, model: "PreTrainedModel", batch: Mapping[str, "Tensor"]) -> "Tensor":
        """Return the sum of the losses of sentences that are a whole batch."""
        return self.batch_loss(self.row_outputs(model, batch))

    def row_sums(self, model: "PreTrainedModel", batch: Mapping[str, "Tensor"]) -> dict[str, "Tensor"]:
        """Return both parts of the loss of each sentence, and their sum."""
        import torch  # not at the top: this module is imported to check options

        invariance, regularization = self.row_losses(self.row_outputs(model, batch)[0])
        values = dict(zip(self.metrics, (invariance + regularization, invariance, regularization), strict=True))
        return {name: torch.stack([losses, torch.ones_like(losses)], dim=1) for name, losses in values.items()}

    def row_losses(self, projections: "Tensor") -> tuple["Tensor", "Tensor"]:
        """Return the invariance and the regularization part of the loss of each sentence of a whole batch.

        Args:
            projections: [N, 2, P] float32, of both views of N sentences.

        Returns:
            [N] float32 each. A part that is defined for the batch only is equal for all sentences.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class SentenceExamples(EvaluatedTogether):
    """Two views of each sentence, shuffled in each epoch; implements `training.data.examples.Examples`."""

    text: TokenDataset
    """Token shards whose documents are the sentences."""
    objective: SentenceViews
    length: int
    """Maximum number of positions of a view; longer sentences are cut into several."""
    seed: int
    """Seed of the order of the sentences and of their views."""
    special_tokens: SpecialTokens

    @cached_property
    def _train(self) -> TokenSentences:
        return TokenSentences(self.text.train, self.objective.text_length(self.length), "training")

    @cached_property
    def _validation(self) -> TokenSentences:
        return TokenSentences(self.text.validation, self.objective.text_length(self.length), "validation")

    @property
    def input_length(self) -> None:
        """None, because the FLOPs of two views and a projector are not counted."""
        return None

    @property
    def tokens_per_example(self) -> int:
        """Mean number of tokens of a training sentence, rounded up; each is read twice."""
        return int(np.ceil(self._train.lengths.mean()))

    def count_tokens(self, n_examples: int) -> int:
        """Return the number of tokens of the first training sentences of the run, which have the mean length."""
        return n_examples * self.tokens_per_example

    @property
    def validation_size(self) -> int:
        """Number of validation sentences."""
        return len(self._validation)

    def training_batch(self, positions: np.ndarray) -> Batch:
        """Return two views of the training sentences at positions [B] of the run."""
        ids = SequenceOrder(len(self._train), self.seed).sequence_ids(positions)
        return self._make_batch(self._train, ids, positions, derive_key(self.seed, "training"))

    def validation_batch(self, ids: np.ndarray) -> Batch:
        """Return two views of the validation sentences with ids [B]; they do not depend on the seed of the run."""
        return self._make_batch(self._validation, ids, ids, derive_key("validation"))

    def _make_batch(self, sentences: TokenSentences, ids: np.ndarray, row_ids: np.ndarray, key: int) -> Batch:
        return self.objective.make_view_batch(sentences.take(ids), row_ids, key, self.special_tokens)
