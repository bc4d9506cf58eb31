"""Training and validation examples of a run on pairs of texts."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from training.data.examples import Batch, EvaluatedTogether
from training.data.length_grouped_order import LengthGroupedOrder
from training.data.special_tokens import SpecialTokens
from training.data.token_pairs import TokenPairs
from training.data.token_streams import TokenDataset
from training.objectives.text_pairs import TextPairs


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
