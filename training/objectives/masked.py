"""Masked language modeling (Devlin et al. 2019, section 3.1; dynamic masks: Liu et al. 2019, section 4.1)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field

from bitcipher.errors import BitcipherError
from bitcipher.files.records import Float
from training.data.counter_rng import derive_key, uniform
from training.models.losses import score_tokens, summed_loss, sums_of_rows
from training.models.options import ENCODERS, ModelOptions
from training.objectives.base import BatchContext, Objective, documents_of

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

# BERT replaces 80 % of the selected tokens with the mask token and 10 % with a random token; 10 % stay unchanged. A
# uniform random number below `_MASK` means the mask token, from there to `_MASK_OR_RANDOM` a random token.
_MASK = 0.8
_MASK_OR_RANDOM = 0.9


class MaskedLM(Objective):
    """Predict masked tokens from their left and right context.

    An example is the begin token, the text and the end token. A token of the text is selected if its random number is
    below `mlm_probability`. If a row has no such token, the token with the smallest random number is selected, so that
    every row has a prediction. Special tokens are never selected.
    """

    architectures: ClassVar[tuple[str, ...]] = ENCODERS

    can_mask_documents: ClassVar[bool] = True
    """Whether `document_mask` is supported."""

    mlm_probability: Float = Field(0.15, gt=0, lt=1)
    """Fraction of tokens to predict."""
    static_masks: int | None = Field(None, ge=1)
    """Number of masks of each sequence, which epochs use in turn (10 in Liu et al. 2019, section 4.1); by default, each
    epoch has new masks."""
    replacement: Literal["bert", "always"] = "bert"
    """Input at selected tokens: `bert` (80 % the mask token, 10 % a random token, 10 % unchanged) or `always` the mask
    token."""
    whole_word_mask: bool = False
    """Select all tokens of a word together."""
    document_mask: bool = False
    """Attend only to tokens of the same document, and count positions from its start. By default, all tokens of a
    sequence attend to each other."""

    @property
    def needs_word_starts(self) -> bool:
        """Whether all tokens of a word are selected together."""
        return self.whole_word_mask

    def check_model(self, options: ModelOptions) -> None:
        """Check that attention can be kept within documents.

        Raises:
            BitcipherError: if it cannot.
        """
        if self.document_mask and not (self.can_mask_documents and options.architecture != "deberta"):
            raise BitcipherError(
                "`objective.document_mask` needs the objective masked or causal and a model other than deberta; leave "
                "it out."
            )

    def text_length(self, length: int) -> int:
        """Return `length` without the begin and end tokens."""
        if length < 3:
            raise BitcipherError(f"Masked examples need at least 3 positions, got {length}.")
        return length - 2

    def make_batch(self, context: BatchContext) -> dict[str, np.ndarray]:
        """Return examples with masked tokens.

        Returns:
            `input_ids` [B, length] int64; `positions` [M] int64, ascending indices of the selected tokens in the
            flattened batch; `labels` [M] int64, the selected tokens. With `document_mask`, also `document_ids`
            [B, length] int64: the begin token belongs to the first document of a row.
        """
        text = context.sequences.take(context.sequence_ids)
        special = context.special_tokens
        examples = concat_columns(special.begin, text, special.end)
        batch = self.mask_tokens(examples, context)
        return batch | {"document_ids": documents_of(examples, special.end)} if self.document_mask else batch

    def mask_tokens(self, examples: np.ndarray, context: BatchContext) -> dict[str, np.ndarray]:
        """Mask tokens of complete examples [B, length]; see `make_batch` for the result."""
        if context.special_tokens.mask is None:
            raise BitcipherError("The tokenizer has no mask token, which masked language modeling needs; add <mask>.")
        rows = self.rng_rows(context)
        columns = examples.shape[1]
        maskable = ~np.isin(examples, _special_ids(context))
        draws = uniform(derive_key(context.rng_key, "which are masked"), rows, columns)
        if self.whole_word_mask:
            draws = _draw_of_first_token(draws, _word_starts(examples, maskable, context))
        selected = _select(draws, maskable, self.mlm_probability)
        inputs = np.where(selected, context.special_tokens.mask, examples)
        if self.replacement == "bert":
            kinds = uniform(derive_key(context.rng_key, "what is shown"), rows, columns)
            tokens = uniform(derive_key(context.rng_key, "any token"), rows, columns) * context.vocab_size
            inputs = np.where(selected & (kinds >= _MASK), tokens.astype(np.int64), inputs)
            inputs = np.where(selected & (kinds >= _MASK_OR_RANDOM), examples, inputs)
        return {"input_ids": inputs, "positions": np.flatnonzero(selected), "labels": examples[selected]}

    def rng_rows(self, context: BatchContext) -> np.ndarray:
        """Return the counters [B] of the rows' random numbers: static masks depend on the sequence and the epoch."""
        if self.static_masks is None:
            return context.row_ids
        epochs = context.row_ids // len(context.sequences)
        return context.sequence_ids * self.static_masks + epochs % self.static_masks

    def count_targets(self, batch: Mapping[str, np.ndarray]) -> int:
        """Return the number of selected tokens."""
        return len(batch["labels"])

    def loss(self, model: "PreTrainedModel", batch: Mapping[str, "Tensor"]) -> "Tensor":
        """Return the sum of the cross-entropies of the selected tokens.

        Logits are computed for the selected tokens only, which is 8 times as fast as computing them for all positions.
        """
        from training.models import parts

        hidden = parts.hidden_states(model, batch).flatten(0, 1)
        return summed_loss(model, hidden.index_select(0, batch["positions"]), batch["labels"])

    def row_sums(self, model: "PreTrainedModel", batch: Mapping[str, "Tensor"]) -> dict[str, "Tensor"]:
        """Return the cross-entropies of the selected tokens of each row."""
        from training.models import parts

        losses, _ = self.score_masked(model, parts.hidden_states(model, batch), batch)
        return dict.fromkeys(self.metrics, losses)

    def score_masked(
        self, model: "PreTrainedModel", hidden: "Tensor", batch: Mapping[str, "Tensor"]
    ) -> tuple["Tensor", "Tensor"]:
        """Return the sum and the number [B, 2] of the cross-entropies of selected tokens, and of correct guesses."""
        n_rows, length = batch["input_ids"].shape
        positions = batch["positions"]
        losses, correct = score_tokens(model, hidden.flatten(0, 1).index_select(0, positions), batch["labels"])
        rows = positions // length
        return sums_of_rows(losses, rows, n_rows), sums_of_rows(correct, rows, n_rows)


def concat_columns(*parts: np.ndarray | int) -> np.ndarray:
    """Concatenate arrays of B rows along the columns. A single token is repeated in a column of its own."""
    n_rows = next(len(part) for part in parts if isinstance(part, np.ndarray))
    columns = (part if isinstance(part, np.ndarray) else np.full((n_rows, 1), part, np.int64) for part in parts)
    return np.concatenate(list(columns), axis=1)


def _special_ids(context: BatchContext) -> list[int]:
    special = context.special_tokens
    ids = (special.pad, special.begin, special.end, special.unknown, special.mask, *special.sentinels)
    return [token for token in ids if token is not None]


def _word_starts(examples: np.ndarray, maskable: np.ndarray, context: BatchContext) -> np.ndarray:
    """Return [B, length] bool: whether a word begins at the token. Special tokens always begin a word."""
    if context.word_starts is None:
        raise BitcipherError("Whole-word masking needs `BatchContext.word_starts`.")
    return context.word_starts[examples] | ~maskable


def _draw_of_first_token(draws: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return [B, length]: for each token, the random number of the first token of its word."""
    columns = np.arange(draws.shape[1])
    first = np.maximum.accumulate(np.where(starts, columns, 0), axis=1)
    return np.take_along_axis(draws, first, axis=1)


def _select(draws: np.ndarray, maskable: np.ndarray, probability: float) -> np.ndarray:
    draws = np.where(maskable, draws, 1.0)
    smallest = draws.min(axis=1, keepdims=True)
    return maskable & ((draws < probability) | (draws == smallest))
