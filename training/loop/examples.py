"""What a run is fed with: arrays of examples by their positions in the run."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from bitcipher.errors import BitcipherError
from training.counter_rng import key_of
from training.data import Order, Sequences, SpecialTokens, TokenText
from training.objectives import BatchContext, Objective

Batch = dict[str, np.ndarray]


class Examples(Protocol):
    """Examples to train on and to hold out; the same position or number always gives the same arrays."""

    def training(self, positions: np.ndarray) -> Batch:
        """Those at positions of a run, which count over all its batches and epochs; [B]."""

    def held_out(self, numbers: np.ndarray) -> Batch:
        """Those of held-out numbers, below `held_out_size`; [B]."""

    @property
    def held_out_size(self) -> int:
        """How many are held out."""


@dataclass(frozen=True)
class TextExamples:
    """Sequences of a text in an order of their own each epoch, made into examples by an objective."""

    text: TokenText
    objective: Objective
    length: int
    """Positions of an example."""
    seed: int
    special_tokens: SpecialTokens
    vocabulary: int
    word_starts: np.ndarray | None
    """[vocabulary], bool: tokens that begin a word, where whole words are masked."""

    def __post_init__(self) -> None:
        """Refuse a text without a whole sequence."""
        for stream, name in ((self.text.train, "training"), (self.text.validation, "held-out")):
            length = self.objective.text_length(self.length)
            if len(stream) < length:
                raise BitcipherError(
                    f"The {name} part of the text has {len(stream):,} tokens, less than one sequence of {length}: give "
                    "more text, or choose fewer positions or another validation_share."
                )

    @property
    def _train(self) -> Sequences:
        return Sequences(self.text.train, self.objective.text_length(self.length))

    @property
    def _validation(self) -> Sequences:
        return Sequences(self.text.validation, self.objective.text_length(self.length))

    @property
    def held_out_size(self) -> int:
        """See `Examples`."""
        return len(self._validation)

    def training(self, positions: np.ndarray) -> Batch:
        """See `Examples`."""
        numbers = Order(len(self._train), self.seed).numbers(positions)
        return self._make(self._train, numbers, positions, key_of(self.seed, "training"))

    def held_out(self, numbers: np.ndarray) -> Batch:
        """See `Examples`; their masks are the same for every seed of training."""
        return self._make(self._validation, numbers, numbers, key_of("validation"))

    def _make(self, sequences: Sequences, numbers: np.ndarray, rows: np.ndarray, key: int) -> dict[str, Any]:
        draw = BatchContext(sequences, numbers, rows, key, self.special_tokens, self.vocabulary, self.word_starts)
        return self.objective.batch(draw)
