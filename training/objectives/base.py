"""Base class of the objectives, and the data that a batch is made from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from bitcipher.errors import BitcipherError
from bitcipher.files.records import Record
from training.models.options import ModelOptions

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

    from training.data.special_tokens import SpecialTokens
    from training.data.token_streams import Sequences


@dataclass(frozen=True)
class BatchContext:
    """Inputs of `Objective.make_batch`. An example depends only on its own row, not on the rest of the batch."""

    sequences: "Sequences"
    """Text in sequences of `Objective.text_length` tokens."""
    sequence_ids: np.ndarray
    """[B] int64: sequence of each row."""
    row_ids: np.ndarray
    """[B] int64: position of each row in the run, the counter of its random numbers."""
    rng_key: int
    """Key of the random numbers, from `counter_rng.derive_key`."""
    special_tokens: "SpecialTokens"
    """Ids of the tokenizer's special tokens."""
    vocab_size: int
    """Highest id of the tokenizer plus one."""
    word_starts: np.ndarray | None = None
    """[vocab_size] bool, from `word_starts`; required for whole-word masking."""


class Objective(Record):
    """Pre-training objective, which makes batches of token sequences and computes their losses. Fields are options.

    Subclasses are stateless. All batches of B rows have the same shapes, except for arrays with one value per selected
    token, such as `positions`.
    """

    architectures: ClassVar[tuple[str, ...]]
    """Architectures that the objective can train."""
    metrics: ClassVar[tuple[str, ...]] = ("validation_loss", "perplexity")
    """Names of the metrics of an evaluation (see `training.loop.evaluation`)."""
    needs_next_sentence_head: ClassVar[bool] = False
    """Whether the model needs the next-sentence head."""
    needs_generator: ClassVar[bool] = False
    """Whether the model needs a generator."""
    needs_projector: ClassVar[bool] = False
    """Whether the model needs a projector."""

    def check_model(self, options: ModelOptions) -> None:
        """Check what `check_objective` does not: by default nothing.

        Raises:
            BitcipherError: if the options of the objective do not suit the model.
        """

    def text_length(self, length: int) -> int:
        """Return the number of text tokens in an example of `length` positions.

        Raises:
            BitcipherError: if no example has this length.
        """
        raise NotImplementedError

    def make_batch(self, context: BatchContext) -> dict[str, np.ndarray]:
        """Return the inputs of the model and the other arrays that `loss` takes.

        `TextPairs` has `make_pair_batch` instead, and `SentenceViews` has `make_view_batch`.
        """
        raise NotImplementedError

    def count_targets(self, batch: Mapping[str, np.ndarray]) -> int:
        """Return the number of predictions in a batch, which the sum of losses is divided by."""
        raise NotImplementedError

    def loss(self, model: "PreTrainedModel", batch: Mapping[str, "Tensor"]) -> "Tensor":
        """Return the sum of the losses of all predictions as a float32 scalar, in nats."""
        raise NotImplementedError

    def row_sums(self, model: "PreTrainedModel", batch: Mapping[str, "Tensor"]) -> dict[str, "Tensor"]:
        """Return [B, 2] for each of `metrics`: the sum and the number of terms of each row, without gradients."""
        raise NotImplementedError


def documents_of(tokens: np.ndarray, end: int) -> np.ndarray:
    """Return the document [B, S] int64 of each token of a row, numbered from 0; each document ends with the end token.

    >>> documents_of(np.array([[7, 8, 2, 9, 2, 5]]), end=2)
    array([[0, 0, 0, 1, 1, 2]])
    """
    is_end = tokens == end
    return np.cumsum(is_end, axis=1) - is_end


def check_objective(objective: Objective, options: ModelOptions) -> None:
    """Check that an objective can train a model.

    Raises:
        BitcipherError: if the architecture of the model, or its head, does not suit the objective.
    """
    name = type(objective).__name__
    if options.architecture not in objective.architectures:
        raise BitcipherError(
            f"{name} trains {' or '.join(objective.architectures)}, but `model.architecture` is "
            f"{options.architecture}; change it or `objective.name`."
        )
    if objective.needs_next_sentence_head and not options.next_sentence:
        raise BitcipherError(f"{name} needs the next-sentence head; set `model.next_sentence` to true.")
    if objective.needs_generator and options.generator_layers is None:
        raise BitcipherError(f"{name} needs a generator; set `model.generator_layers`.")
    if options.generator_layers is not None and not objective.needs_generator:
        raise BitcipherError(f"{name} trains no generator; leave `model.generator_layers` out.")
    if objective.needs_projector != (options.projector_size is not None):
        verb = "needs a projector; set" if objective.needs_projector else "trains no projector; leave out"
        raise BitcipherError(f"{name} {verb} `model.projector_size`.")
    objective.check_model(options)
