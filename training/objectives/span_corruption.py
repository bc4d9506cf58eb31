"""Span corruption (Raffel et al. 2020, section 3.1.4 and 3.3.4), with lengths and choices as in their code."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from bitcipher.errors import BitcipherError
from training.counter_rng import key_of, uniforms
from training.models import hidden_states
from training.objectives.base import BatchContext
from training.objectives.losses import summed_loss
from training.objectives.masked import joined

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel


@dataclass(frozen=True)
class SpanCorruption:
    """Spans of text are taken out, each with a sentinel in its place, and are to be written one after another.

    The numbers of lost tokens and of spans are fixed by the length of the text; how long each span is, and each piece
    between, is one of all ways to part them, every one as likely. Text comes first and a span last, so that targets
    read "sentinel, span, sentinel, span, …, end token" and need no closing sentinel.

    Raises:
        BitcipherError: if an option has no meaning.
    """

    families: ClassVar[tuple[str, ...]] = ("t5",)
    sentence_head: ClassVar[bool] = False

    density: float = 0.15
    """The share of tokens taken out."""

    mean_span: float = 3.0
    """Tokens in a span on average."""

    def __post_init__(self) -> None:
        if not 0 < self.density <= 0.5:
            raise BitcipherError(f"The density of noise must be above 0 and at most 0.5, not {self.density}.")
        if self.mean_span < 1:
            raise BitcipherError(f"Spans must be 1 token long or more on average, not {self.mean_span}.")

    def text_length(self, length: int) -> int:
        """The most text whose inputs are of this length: text left, sentinels, and the end token."""
        if length < 3:
            raise BitcipherError(f"Examples of span corruption need at least 3 positions, not {length}.")
        # One token of text more makes inputs longer by one or not at all, so that every length is met exactly.
        text = 2
        while self._inputs_length(text + 1) <= length:
            text += 1
        return text

    def batch(self, draw: BatchContext) -> dict[str, np.ndarray]:
        """Texts with holes, and what was in them.

        Returns:
            `input_ids` [B, length] int64, `labels` and `decoder_input_ids` [B, lost tokens + spans + 1] int64; the
            decoder reads the padding token and then the labels one position later.
        """
        text = draw.sequences.take(draw.numbers)
        lost, spans = self._sizes(text.shape[1])
        if spans > len(draw.tokens.sentinels):
            raise BitcipherError(
                f"Examples of this length have {spans} spans, and the tokenizer has {len(draw.tokens.sentinels)} "
                f"sentinels: train it with at least {spans}, or take shorter sequences or longer spans."
            )
        pieces = np.empty((len(text), 2 * spans), np.int64)
        pieces[:, 0::2] = _parted(text.shape[1] - lost, spans, key_of(draw.key, "pieces kept"), draw.rows)
        pieces[:, 1::2] = _parted(lost, spans, key_of(draw.key, "pieces lost"), draw.rows)
        piece = np.repeat(np.tile(np.arange(2 * spans), len(text)), pieces.ravel()).reshape(text.shape)
        first = np.diff(piece, axis=1, prepend=-1) != 0
        is_lost = piece % 2 == 1
        sentinels = np.asarray(draw.tokens.sentinels)[piece // 2]
        end = draw.tokens.end
        labels = joined(_with_sentinels(text, sentinels, is_lost, first & ~is_lost), end)
        return {
            "input_ids": joined(_with_sentinels(text, sentinels, ~is_lost, first & is_lost), end),
            "decoder_input_ids": joined(draw.tokens.pad, labels[:, :-1]),
            "labels": labels,
        }

    def targets(self, batch: Mapping[str, np.ndarray]) -> int:
        """Every token that the decoder writes, with sentinels and the end token."""
        return batch["labels"].size

    def loss(self, model: "PreTrainedModel", batch: Mapping[str, "Tensor"]) -> "Tensor":
        """The sum over all tokens that the decoder writes."""
        return summed_loss(model, hidden_states(model, batch).flatten(0, 1), batch["labels"].flatten())

    def _sizes(self, text: int) -> tuple[int, int]:
        """How many tokens are lost of so many, and in how many spans."""
        # At most half, which only rounding of a density of 0.5 could exceed: between spans there must be text.
        lost = max(1, min(round(text * self.density), text // 2))
        return lost, max(1, round(lost / self.mean_span))

    def _inputs_length(self, text: int) -> int:
        lost, spans = self._sizes(text)
        return text - lost + spans + 1


def _parted(total: int, parts: int, key: int, rows: np.ndarray) -> np.ndarray:
    """[R, parts]: `total` as a sum of so many numbers of 1 or more, all sums being as likely."""
    places = np.argsort(uniforms(key, rows, total - 1), axis=1)[:, : parts - 1]
    ends = np.full((len(rows), parts + 1), total)
    ends[:, 0] = 0
    ends[:, 1:-1] = np.sort(places, axis=1) + 1
    return np.diff(ends, axis=1)


def _with_sentinels(text: np.ndarray, sentinels: np.ndarray, kept: np.ndarray, replaced: np.ndarray) -> np.ndarray:
    """[B, …]: the kept tokens, and a sentinel where a piece begins that is left out; as many in every row."""
    return np.where(replaced, sentinels, text)[kept | replaced].reshape(len(text), -1)
