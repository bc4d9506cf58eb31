"""Base class of the objectives, and the examples that most of them make: sequences of a text.

An objective makes its own examples (`Objective.examples`). Those that do not read sequences of a text, such as pairs of
texts, have a class of examples in their module.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from bitcipher.errors import BitcipherError
from bitcipher.files.records import Record
from pipelines.tokenizers.tokenizer_json import vocab_size
from training.data.counter_rng import derive_key
from training.data.examples import Batch, Examples
from training.data.special_tokens import SpecialTokens, special_tokens
from training.data.token_shards import source_of_shard
from training.data.token_streams import SequenceOrder, Sequences, TokenDataset
from training.models.options import ModelOptions
from training.objectives.word_boundaries import word_starts

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel


@dataclass(frozen=True)
class BatchContext:
    """Inputs of `Objective.make_batch`. An example depends only on its own row, not on the rest of the batch."""

    sequences: Sequences
    """Text in sequences of `Objective.text_length` tokens."""
    sequence_ids: np.ndarray
    """[B] int64: sequence of each row."""
    row_ids: np.ndarray
    """[B] int64: position of each row in the run, the counter of its random numbers."""
    rng_key: int
    """Key of the random numbers, from `counter_rng.derive_key`."""
    special_tokens: SpecialTokens
    """Ids of the tokenizer's special tokens."""
    vocab_size: int
    """Highest id of the tokenizer plus one."""
    word_starts: np.ndarray | None = None
    """[vocab_size] bool, from `word_starts`; required for whole-word masking."""


@dataclass(frozen=True)
class ExampleInputs:
    """Inputs of `Objective.examples`."""

    text: TokenDataset
    """Token shards of both splits."""
    length: int
    """Number of positions of the model."""
    seed: int
    """Seed of the order of the examples, and of their masks."""
    batch_size: int
    """Number of examples of an update."""
    source_names: Mapping[str, str] = field(default_factory=dict)
    """Name of each source by its name in token shards; see `TextExamples`."""


class TrainingExamples(Examples, Protocol):
    """Examples that a run of pre-training can report on."""

    @property
    def tokens_per_example(self) -> int:
        """Number of text tokens of an example, or their mean, rounded up."""
        ...

    @property
    def input_length(self) -> int | None:
        """Number of positions that the model reads of an example, for its FLOPs; None if they are not counted."""
        ...

    def count_tokens(self, n_examples: int) -> int:
        """Return the number of text tokens of the first training examples of the run."""
        ...


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
    reads_pairs: ClassVar[bool] = False
    """Whether the sources of the text are tables of pairs of texts."""

    @property
    def needs_word_starts(self) -> bool:
        """Whether `make_batch` needs to know which tokens begin a word."""
        return False

    def examples(self, inputs: ExampleInputs) -> TrainingExamples:
        """Return the training and validation examples of a run: by default `TextExamples`.

        Raises:
            BitcipherError: if a split has no example.
        """
        tokenizer = inputs.text.tokenizer
        return TextExamples(
            inputs.text,
            self,
            inputs.length,
            inputs.seed,
            special_tokens(tokenizer),
            vocab_size(tokenizer),
            word_starts(tokenizer) if self.needs_word_starts else None,
            inputs.source_names,
        )

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
        """Return the inputs of the model and the other arrays that `loss` takes, for `TextExamples`."""
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


# Maximum number of sources that are evaluated apart. More of them would fill the metrics.
MAX_SOURCES = 20


@dataclass(frozen=True)
class TextExamples:
    """Examples that an objective makes from the sequences of a dataset, shuffled in each epoch."""

    text: TokenDataset
    objective: Objective
    length: int
    """Number of positions of an example."""
    seed: int
    """Seed of the order of the sequences and of the masks."""
    special_tokens: SpecialTokens
    vocab_size: int
    """Highest id of the tokenizer plus one."""
    word_starts: np.ndarray | None
    """[vocab_size] bool: whether the token begins a word; required for whole-word masking."""
    source_names: Mapping[str, str] = field(default_factory=dict)
    """Name of each source by its name in token shards."""

    def __post_init__(self) -> None:
        """Check that both splits have at least one sequence."""
        length = self.objective.text_length(self.length)
        if not self.text.validation.n_documents:
            raise BitcipherError(
                "The validation split is empty, because a share of whole documents is held out, and chance has "
                f"put all documents (number: {self.text.train.n_documents:,}) into the training split: provide more, "
                "raise `text.validation_fraction`, or name other files as `text.validation_sources`."
            )
        for stream, name in ((self.text.train, "training"), (self.text.validation, "validation")):
            if len(stream) < length:
                raise BitcipherError(
                    f"The {name} split has {len(stream):,} tokens, fewer than one sequence of {length}; provide more "
                    "text, or change `model.max_position_embeddings` or `text.validation_fraction`."
                )

    @property
    def _train(self) -> Sequences:
        return Sequences(self.text.train, self.objective.text_length(self.length))

    @property
    def _validation(self) -> Sequences:
        return Sequences(self.text.validation, self.objective.text_length(self.length))

    @property
    def input_length(self) -> int:
        """Number of positions of an example."""
        return self.length

    @property
    def tokens_per_example(self) -> int:
        """Number of text tokens of an example."""
        return self.objective.text_length(self.length)

    def count_tokens(self, n_examples: int) -> int:
        """Return the number of text tokens of the first training examples of the run."""
        return n_examples * self.tokens_per_example

    @property
    def validation_size(self) -> int:
        """Number of validation examples."""
        return len(self._validation)

    @property
    def validation_sources(self) -> Sequence[str]:
        """Names of the sources of the validation split, if there are from 2 to `MAX_SOURCES`."""
        sources = self._validation_shard_sources
        names = [self.source_names[source] for source in sources if source in self.source_names]
        return names if 1 < len(names) == len(sources) <= MAX_SOURCES else ()

    def validation_source_numbers(self, ids: np.ndarray) -> np.ndarray:
        """Return the position [B] in `validation_sources` of the source in which each validation example begins."""
        if not self.validation_sources:
            return np.zeros(len(ids), np.int64)
        shards = self.text.validation.shard_numbers(ids * self._validation.length)
        # Sources have one or more shards, in order.
        ends = np.cumsum(list(self._validation_shard_sources.values()))
        return np.searchsorted(ends, shards, side="right")

    @property
    def _validation_shard_sources(self) -> dict[str, int]:
        """Number of shards of each source of the validation split, in order."""
        return Counter(map(source_of_shard, self.text.validation.shard_names))

    def training_batch(self, positions: np.ndarray) -> Batch:
        """Return the training examples at positions [B] of the run."""
        ids = SequenceOrder(len(self._train), self.seed).sequence_ids(positions)
        return self._make_batch(self._train, ids, positions, derive_key(self.seed, "training"))

    def validation_batch(self, ids: np.ndarray) -> Batch:
        """Return the validation examples with ids [B]; their masks do not depend on the seed of the run."""
        return self._make_batch(self._validation, ids, ids, derive_key("validation"))

    def _make_batch(self, sequences: Sequences, ids: np.ndarray, row_ids: np.ndarray, key: int) -> Batch:
        context = BatchContext(sequences, ids, row_ids, key, self.special_tokens, self.vocab_size, self.word_starts)
        return self.objective.make_batch(context)
