"""Training on pairs of texts (Vaswani et al. 2017; Algorithm 11 of Phuong & Hutter 2022, arXiv:2207.09238)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from pydantic import BeforeValidator, Field

from training.data.examples import Batch, EvaluatedTogether
from training.data.length_grouped_order import LengthGroupedOrder
from training.data.special_tokens import SpecialTokens, special_tokens
from training.data.token_pairs import TokenPairs
from training.data.token_streams import TokenDataset
from training.models.losses import score_tokens, summed_loss, sums_of_rows
from training.models.options import ENCODER_DECODERS
from training.objectives.base import ExampleInputs, Objective

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel


# YAML reads the number of a column as an integer.
Column = Annotated[str, BeforeValidator(lambda value: str(value) if type(value) is int else value), Field(min_length=1)]


class TextPairs(Objective):
    """Predict each token of a target text from the source text and the preceding tokens of the target.

    The encoder reads the source and its end token. The decoder reads the padding token and the target, and predicts the
    target and its end token. Padding is not predicted.
    """

    architectures: ClassVar[tuple[str, ...]] = ENCODER_DECODERS
    metrics: ClassVar[tuple[str, ...]] = ("validation_loss", "perplexity", "token_accuracy", "sequence_accuracy")

    source_column: Column = "source"
    """Column of the source texts: a field of JSON lines, or a name in the first line of a TSV. If both columns are
    numbers, they are positions, from 1, in a TSV without names."""
    target_column: Column = "target"
    """Column of the target texts."""

    reads_pairs: ClassVar[bool] = True

    def examples(self, inputs: ExampleInputs) -> "PairExamples":
        """Return the pairs of both splits.

        Raises:
            BitcipherError: if a split has no pair that fits.
        """
        tokens = special_tokens(inputs.text.tokenizer)
        return PairExamples(inputs.text, self, inputs.length, inputs.seed, tokens, inputs.batch_size)

    def text_length(self, length: int) -> int:
        """Return the maximum number of tokens of a pair, whose sides have at most `length` tokens each."""
        return 2 * length

    def make_pair_batch(
        self, sources: Sequence[np.ndarray], targets: Sequence[np.ndarray], special_tokens: SpecialTokens
    ) -> dict[str, np.ndarray]:
        """Return padded pairs.

        Args:
            sources: tokens of the B sources, with the end token.
            targets: tokens of the B targets, with the end token.
            special_tokens: ids of the tokenizer's special tokens.

        Returns:
            `input_ids` and `attention_mask` [B, S] int64, and `decoder_input_ids` [B, T] int64, for the longest source
            and target; `positions` [N] int64, indices of the predictions in the flattened decoder inputs; `labels` [N]
            int64, the tokens of the targets.
        """
        inputs, is_source = _pad(sources, special_tokens.pad)
        outputs, is_target = _pad(targets, special_tokens.pad)
        decoder_inputs = np.full_like(outputs, special_tokens.pad)
        decoder_inputs[:, 1:] = outputs[:, :-1]
        return {
            "input_ids": inputs,
            "attention_mask": is_source.astype(np.int64),
            "decoder_input_ids": decoder_inputs,
            "positions": np.flatnonzero(is_target),
            "labels": outputs[is_target],
        }

    def count_targets(self, batch: Mapping[str, np.ndarray]) -> int:
        """Return the number of tokens of the targets, with end tokens."""
        return len(batch["labels"])

    def loss(self, model: "PreTrainedModel", batch: Mapping[str, "Tensor"]) -> "Tensor":
        """Return the sum of the cross-entropies of the tokens of the targets."""
        return summed_loss(model, _predictions(model, batch), batch["labels"])

    def row_sums(self, model: "PreTrainedModel", batch: Mapping[str, "Tensor"]) -> dict[str, "Tensor"]:
        """Return losses and correct guesses of each pair.

        `sequence_accuracy` counts pairs without a wrong guess. Greedy search generates the targets of exactly these.
        """
        import torch  # not at the top: this module is imported to check options

        n_rows, length = batch["decoder_input_ids"].shape
        losses, correct = score_tokens(model, _predictions(model, batch), batch["labels"])
        rows = batch["positions"] // length
        loss_sums, correct_sums = (sums_of_rows(values, rows, n_rows) for values in (losses, correct))
        is_exact = (correct_sums[:, 0] == correct_sums[:, 1]).double()
        return {
            "validation_loss": loss_sums,
            "perplexity": loss_sums,
            "token_accuracy": correct_sums,
            "sequence_accuracy": torch.stack([is_exact, torch.ones_like(is_exact)], dim=1),
        }


def _predictions(model: "PreTrainedModel", batch: Mapping[str, "Tensor"]) -> "Tensor":
    """Return the hidden states [N, H] of the predictions."""
    from training.models import parts

    return parts.hidden_states(model, batch).flatten(0, 1).index_select(0, batch["positions"])


def _pad(rows: Sequence[np.ndarray], pad: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows [B, T] int64 that are padded to the longest, and a mask [B, T] bool of their tokens."""
    lengths = np.array([len(row) for row in rows])
    is_token = np.arange(lengths.max()) < lengths[:, None]
    padded = np.full(is_token.shape, pad, np.int64)
    padded[is_token] = np.concatenate(rows)
    return padded, is_token


@dataclass(frozen=True)
class PairExamples(EvaluatedTogether):
    """Pairs of texts, shuffled in each epoch in batches of similar lengths; implements `Examples`."""

    text: TokenDataset
    """Token shards whose documents are the sources and targets of the pairs, in turn."""
    objective: TextPairs
    length: int
    """Maximum number of tokens of a source and of a target; longer pairs are left out."""
    seed: int
    """Seed of the order of the pairs."""
    special_tokens: SpecialTokens
    batch_size: int
    """Number of pairs of similar length that form a batch."""

    @cached_property
    def _train(self) -> TokenPairs:
        return TokenPairs(self.text.train, self.length, "training")

    @cached_property
    def _validation(self) -> TokenPairs:
        return TokenPairs(self.text.validation, self.length, "validation")

    @cached_property
    def _order(self) -> LengthGroupedOrder:
        return LengthGroupedOrder(self._train.lengths, self.batch_size, self.seed)

    @property
    def input_length(self) -> int:
        """Mean number of tokens of a training source, rounded up."""
        return int(np.ceil(self._train.lengths[:, 0].mean()))

    @property
    def tokens_per_example(self) -> int:
        """Mean number of tokens of a training pair, rounded up."""
        return int(np.ceil(self._train.lengths.sum(axis=1).mean()))

    def count_tokens(self, n_examples: int) -> int:
        """Return the number of tokens of the first training pairs of the run."""
        return self._order.sum_lengths(n_examples)

    @property
    def validation_size(self) -> int:
        """Number of validation pairs."""
        return len(self._validation)

    def training_batch(self, positions: np.ndarray) -> Batch:
        """Return the training pairs at positions [B] of the run."""
        return self._make_batch(self._train, self._order.sequence_ids(positions))

    def validation_batch(self, ids: np.ndarray) -> Batch:
        """Return the validation pairs with ids [B]."""
        return self._make_batch(self._validation, ids)

    def _make_batch(self, pairs: TokenPairs, ids: np.ndarray) -> Batch:
        return self.objective.make_pair_batch(*pairs.take(ids), self.special_tokens)
