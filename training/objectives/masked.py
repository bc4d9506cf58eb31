"""Masked language modelling (Devlin et al. 2019, section 3.1; dynamic masks: Liu et al. 2019, section 4.1)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from bitcipher.errors import BitcipherError
from training.counter_rng import key_of, uniforms
from training.models import hidden_states
from training.objectives.base import BatchContext
from training.objectives.losses import summed_loss

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

# Of the positions to predict, BERT shows this share as the mask token, ...
_AS_MASK = 0.8
# ... and from there to this share as any token of the vocabulary; the rest stays as it is.
_AS_MASK_OR_RANDOM = 0.9


@dataclass(frozen=True)
class MaskedLM:
    """Some tokens are hidden, and are to be predicted from those on both sides.

    An example is the begin token, the text and the end token. Each token of the text is chosen by its own chance, and
    the likeliest one where chance chooses none, so that every row has a prediction; special tokens are never chosen.

    Raises:
        BitcipherError: if an option has no meaning.
    """

    families: ClassVar[tuple[str, ...]] = ("bert", "roberta")
    sentence_head: ClassVar[bool] = False

    share: float = 0.15
    """The share of tokens to predict."""

    dynamic: bool = True
    """Whether a sequence has other masks each time it is read, or the same ones always (static)."""

    replacement: str = "bert"
    """What is shown instead: `bert` the mask token in 80 of 100, any token in 10 and the token itself in 10; or
    `always` the mask token."""

    whole_words: bool = False
    """Whether all tokens of a word are chosen together, by the chance of its first."""

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise BitcipherError(f"The share of masked tokens must lie between 0 and 1, and {self.share} does not.")
        if self.replacement not in ("bert", "always"):
            raise BitcipherError(f"Masked tokens are replaced as 'bert' or 'always', not as {self.replacement!r}.")

    def text_length(self, length: int) -> int:
        """All positions but those of the begin and the end token."""
        if length < 3:
            raise BitcipherError(f"Masked examples need at least 3 positions, not {length}.")
        return length - 2

    def batch(self, draw: BatchContext) -> dict[str, np.ndarray]:
        """Examples with hidden tokens.

        Returns:
            `input_ids` [B, length] int64; `positions` [M] int64, those to predict in the flattened batch, ascending;
            `labels` [M] int64, their tokens.
        """
        text = draw.sequences.take(draw.numbers)
        return self.hide(joined(draw.tokens.begin, text, draw.tokens.end), draw)

    def hide(self, examples: np.ndarray, draw: BatchContext) -> dict[str, np.ndarray]:
        """Hide tokens of whole examples [B, length]; returns what `batch` returns."""
        if draw.tokens.mask is None:
            raise BitcipherError("The tokenizer has no mask token, as masked language modelling needs: add <mask>.")
        rows = self.chance_rows(draw)
        columns = examples.shape[1]
        maskable = ~np.isin(examples, _never_masked(draw))
        chances = uniforms(key_of(draw.key, "which are masked"), rows, columns)
        if self.whole_words:
            chances = _of_first_in_word(chances, _starts(examples, maskable, draw))
        chosen = _chosen(chances, maskable, self.share)
        shown = np.where(chosen, draw.tokens.mask, examples)
        if self.replacement == "bert":
            kinds = uniforms(key_of(draw.key, "what is shown"), rows, columns)
            tokens = uniforms(key_of(draw.key, "any token"), rows, columns) * draw.vocabulary
            shown = np.where(chosen & (kinds >= _AS_MASK), tokens.astype(np.int64), shown)
            shown = np.where(chosen & (kinds >= _AS_MASK_OR_RANDOM), examples, shown)
        return {"input_ids": shown, "positions": np.flatnonzero(chosen), "labels": examples[chosen]}

    def chance_rows(self, draw: BatchContext) -> np.ndarray:
        """[B]: what the rows are called when chance is asked; static masks go by the sequence."""
        return draw.rows if self.dynamic else draw.numbers

    def targets(self, batch: Mapping[str, np.ndarray]) -> int:
        """The number of hidden tokens."""
        return len(batch["labels"])

    def loss(self, model: "PreTrainedModel", batch: Mapping[str, "Tensor"]) -> "Tensor":
        """The sum over hidden tokens; logits are made of them alone (SPEC section 6: 8 times faster)."""
        hidden = hidden_states(model, batch).flatten(0, 1)
        return summed_loss(model, hidden.index_select(0, batch["positions"]), batch["labels"])


def joined(*parts: np.ndarray | int) -> np.ndarray:
    """Side by side [B, …]: pieces of text [B, n], and tokens that are the same for all rows."""
    rows = next(len(part) for part in parts if isinstance(part, np.ndarray))
    pieces = (part if isinstance(part, np.ndarray) else np.full((rows, 1), part, np.int64) for part in parts)
    return np.concatenate(list(pieces), axis=1)


def _never_masked(draw: BatchContext) -> list[int]:
    tokens = draw.tokens
    special = (tokens.pad, tokens.begin, tokens.end, tokens.unknown, tokens.mask, *tokens.sentinels)
    return [token for token in special if token is not None]


def _starts(examples: np.ndarray, maskable: np.ndarray, draw: BatchContext) -> np.ndarray:
    """[B, length] bool: where a word begins. A special token does too: no word goes on behind it."""
    if draw.word_starts is None:
        raise BitcipherError("Whole words can be masked only if it is known which tokens begin a word.")
    return draw.word_starts[examples] | ~maskable


def _of_first_in_word(chances: np.ndarray, starts: np.ndarray) -> np.ndarray:
    columns = np.arange(chances.shape[1])
    first = np.maximum.accumulate(np.where(starts, columns, 0), axis=1)
    return np.take_along_axis(chances, first, axis=1)


def _chosen(chances: np.ndarray, maskable: np.ndarray, share: float) -> np.ndarray:
    chances = np.where(maskable, chances, 1.0)
    least = chances.min(axis=1, keepdims=True)
    return maskable & ((chances < share) | (chances == least))
