"""What every objective is: examples of sequences, and the sum of the losses of their predictions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from bitcipher.errors import BitcipherError
from training.models import ModelOptions

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

    from training.data import Sequences, SpecialTokens


@dataclass(frozen=True)
class BatchContext:
    """What a batch is drawn from: an example depends on its own row alone, not on the batch that it is in."""

    sequences: "Sequences"
    """Text in sequences of `Objective.text_length` tokens."""

    numbers: np.ndarray
    """[B] int64: which sequences."""

    rows: np.ndarray
    """[B] int64: the rows' names for chance, their positions in the run."""

    key: int
    """Of `chance.key_of`: what all choices depend on besides the row."""

    tokens: "SpecialTokens"
    """The tokenizer's special tokens."""

    vocabulary: int
    """The tokenizer's highest id and one more."""

    word_starts: np.ndarray | None = None
    """[vocabulary] bool of `words.word_starts`: needed where whole words are masked."""


class Objective(Protocol):
    """A frozen dataclass of its options. Arrays of a batch have the same shapes for every row, whatever chance says."""

    families: ClassVar[tuple[str, ...]]
    """The architectures that it fits."""

    sentence_head: ClassVar[bool]
    """Whether the model needs the next-sentence head."""

    def text_length(self, length: int) -> int:
        """How many tokens of text one example takes that the model reads as `length` positions.

        Raises:
            BitcipherError: if no example has this length.
        """

    def batch(self, draw: BatchContext) -> dict[str, np.ndarray]:
        """The model's inputs, and what `loss` needs besides them."""

    def targets(self, batch: Mapping[str, np.ndarray]) -> int:
        """How many predictions a batch asks for: what a sum of losses is divided by."""

    def loss(self, model: "PreTrainedModel", batch: Mapping[str, "Tensor"]) -> "Tensor":
        """The sum of the losses of all predictions, float32, in nats."""


def check_fits(objective: Objective, options: ModelOptions) -> None:
    """Check that an objective can train a model.

    Raises:
        BitcipherError: if it cannot.
    """
    if options.architecture not in objective.families:
        raise BitcipherError(
            f"{type(objective).__name__} trains {' or '.join(objective.families)}, not {options.architecture}: "
            f"choose another objective or another architecture."
        )
    if objective.sentence_head and not options.next_sentence:
        raise BitcipherError(
            f"{type(objective).__name__} needs a model with the next-sentence head: set next_sentence to true."
        )
