"""Span corruption (Raffel et al. 2020, sections 3.1.4 and 3.3.4). Span lengths are drawn as in the authors' code."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from bitcipher.errors import BitcipherError
from bitcipher.files.records import Float
from training.data.counter_rng import derive_key, uniform
from training.models.losses import rows_of, score_tokens, summed_loss, sums_of_rows
from training.models.options import ENCODER_DECODERS
from training.objectives.base import BatchContext, Objective
from training.objectives.masked import concat_columns

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel


class SpanCorruption(Objective):
    """Replace spans of the text with sentinels, and predict the spans.

    The length of the text determines the numbers of noise tokens and spans. The lengths of the spans, and of the text
    between them, are drawn uniformly from all partitions of these numbers of tokens. An example begins with text and
    ends with a span, so the targets are "sentinel, span, sentinel, span, ..., end token" without a closing sentinel.
    """

    architectures: ClassVar[tuple[str, ...]] = ENCODER_DECODERS
    metrics: ClassVar[tuple[str, ...]] = ("validation_loss", "perplexity", "perplexity_without_sentinels")

    noise_density: Float = Field(0.15, gt=0, le=0.5)
    """Fraction of tokens to replace."""
    mean_noise_span_length: Float = Field(3.0, ge=1)
    """Mean number of tokens in a span."""

    def text_length(self, length: int) -> int:
        """Return the maximum number of text tokens that give `length` inputs (text, sentinels and the end token)."""
        if length < 3:
            raise BitcipherError(f"Span-corruption examples need at least 3 positions, got {length}.")
        # One more text token lengthens the inputs by one token or not at all, so every length is reached exactly.
        n_tokens = 2
        while self._inputs_length(n_tokens + 1) <= length:
            n_tokens += 1
        return n_tokens

    def make_batch(self, context: BatchContext) -> dict[str, np.ndarray]:
        """Return corrupted texts and their noise spans.

        Returns:
            `input_ids` [B, length] int64; `labels` and `decoder_input_ids` [B, noise tokens + spans + 1] int64. The
            decoder's inputs are the padding token followed by the labels without the last one. `is_text` bool, whether
            a label is a token of the text, and neither a sentinel nor the end token.
        """
        text = context.sequences.take(context.sequence_ids)
        special = context.special_tokens
        n_noise, n_spans = self._noise_sizes(text.shape[1])
        if n_spans > len(special.sentinels):
            raise BitcipherError(
                f"Examples of this length have {n_spans} spans, but the tokenizer has {len(special.sentinels)} "
                f"sentinels; set `text.tokenizer.sentinels` to at least {n_spans}, or use shorter sequences or longer "
                "spans."
            )
        # The purposes in `derive_key` stay as they are, because other names would give other spans.
        lengths = np.empty((len(text), 2 * n_spans), np.int64)
        lengths[:, 0::2] = _random_partition(
            text.shape[1] - n_noise, n_spans, derive_key(context.rng_key, "pieces kept"), context.row_ids
        )
        lengths[:, 1::2] = _random_partition(
            n_noise, n_spans, derive_key(context.rng_key, "pieces lost"), context.row_ids
        )
        # Even segments are text and odd ones are noise.
        segment = np.repeat(np.tile(np.arange(2 * n_spans), len(text)), lengths.ravel()).reshape(text.shape)
        is_first = np.diff(segment, axis=1, prepend=-1) != 0
        is_noise = segment % 2 == 1
        sentinels = np.asarray(special.sentinels)[segment // 2]
        labels = concat_columns(_collapse(text, sentinels, is_noise, is_first & ~is_noise), special.end)
        is_text = concat_columns(~np.isin(labels[:, :-1], special.sentinels), 0)
        return {
            "input_ids": concat_columns(_collapse(text, sentinels, ~is_noise, is_first & is_noise), special.end),
            "decoder_input_ids": concat_columns(special.pad, labels[:, :-1]),
            "labels": labels,
            "is_text": is_text.astype(bool),
        }

    def count_targets(self, batch: Mapping[str, np.ndarray]) -> int:
        """Return the number of tokens that the decoder predicts, with sentinels and the end token."""
        return batch["labels"].size

    def loss(self, model: "PreTrainedModel", batch: Mapping[str, "Tensor"]) -> "Tensor":
        """Return the sum of the cross-entropies of the decoder's predictions."""
        from training.models import parts

        return summed_loss(model, parts.hidden_states(model, batch).flatten(0, 1), batch["labels"].flatten())

    def row_sums(self, model: "PreTrainedModel", batch: Mapping[str, "Tensor"]) -> dict[str, "Tensor"]:
        """Return the cross-entropies of all labels of each row, and those of the tokens of the text only."""
        from training.models import parts

        labels = batch["labels"]
        losses, _ = score_tokens(model, parts.hidden_states(model, batch).flatten(0, 1), labels.flatten())
        rows, is_text = rows_of(labels), batch["is_text"].flatten()
        every = sums_of_rows(losses, rows, len(labels))
        return {
            "validation_loss": every,
            "perplexity": every,
            "perplexity_without_sentinels": sums_of_rows(losses[is_text], rows[is_text], len(labels)),
        }

    def _noise_sizes(self, n_tokens: int) -> tuple[int, int]:
        """Return the number of noise tokens and the number of spans in a text of `n_tokens` tokens."""
        # At most half of the tokens are noise, because there must be text between spans. Without this limit, a density
        # of 0.5 could be rounded up.
        n_noise = max(1, min(round(n_tokens * self.noise_density), n_tokens // 2))
        return n_noise, max(1, round(n_noise / self.mean_noise_span_length))

    def _inputs_length(self, n_tokens: int) -> int:
        n_noise, n_spans = self._noise_sizes(n_tokens)
        return n_tokens - n_noise + n_spans + 1


def _random_partition(total: int, n_parts: int, key: int, rows: np.ndarray) -> np.ndarray:
    """Return [R, n_parts] positive integers that sum to `total`, drawn uniformly from all such lists."""
    cuts = np.argsort(uniform(key, rows, total - 1), axis=1)[:, : n_parts - 1]
    ends = np.full((len(rows), n_parts + 1), total)
    ends[:, 0] = 0
    ends[:, 1:-1] = np.sort(cuts, axis=1) + 1
    return np.diff(ends, axis=1)


def _collapse(text: np.ndarray, sentinels: np.ndarray, is_kept: np.ndarray, is_sentinel: np.ndarray) -> np.ndarray:
    """Return the kept tokens, with one sentinel in place of each dropped segment.

    Args:
        text: [B, S] tokens.
        sentinels: [B, S], sentinel of each token's segment.
        is_kept: [B, S] bool, whether the token is kept.
        is_sentinel: [B, S] bool, whether the token is the first of a dropped segment.

    Returns:
        [B, n]; n is the same for all rows.
    """
    return np.where(is_sentinel, sentinels, text)[is_kept | is_sentinel].reshape(len(text), -1)
