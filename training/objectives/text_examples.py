"""Examples that an objective makes from the sequences of a text."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from bitcipher.errors import BitcipherError
from training.data.counter_rng import derive_key
from training.data.examples import Batch
from training.data.special_tokens import SpecialTokens
from training.data.token_shards import source_of_shard
from training.data.token_streams import SequenceOrder, Sequences, TokenDataset
from training.objectives.base import BatchContext, Objective

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
