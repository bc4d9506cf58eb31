"""Training and validation examples of a run on pairs of texts."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from training.counter_rng import derive_key
from training.data import SequenceOrder, SpecialTokens, TokenDataset
from training.data.token_pairs import TokenPairs
from training.loop.examples import Batch, EvaluatedTogether
from training.objectives import TextPairs

# Number of batches whose pairs are sorted by length. Fewer of them leave more padding; more of them make batches alike.
GROUPED_BATCHES = 50


@dataclass(frozen=True)
class PairExamples(EvaluatedTogether):
    """Pairs of texts, shuffled in each epoch; implements `training.loop.Examples`.

    The pairs of `GROUPED_BATCHES` batches are sorted by length, so that batches need little padding. The order of these
    batches is random.
    """

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

    @property
    def input_length(self) -> int:
        """Mean number of tokens of a training source, rounded up."""
        return int(np.ceil(self._train.lengths[:, 0].mean()))

    @property
    def tokens_per_example(self) -> int:
        """Mean number of tokens of a training pair, rounded up."""
        return int(np.ceil(self._train.lengths.sum(axis=1).mean()))

    @property
    def validation_size(self) -> int:
        """Number of validation pairs."""
        return len(self._validation)

    def training_batch(self, positions: np.ndarray) -> Batch:
        """Return the training pairs at positions [B] of the run."""
        return self._make_batch(self._train, self._pair_ids(positions))

    def validation_batch(self, ids: np.ndarray) -> Batch:
        """Return the validation pairs with ids [B]."""
        return self._make_batch(self._validation, ids)

    def _make_batch(self, pairs: TokenPairs, ids: np.ndarray) -> Batch:
        return self.objective.make_pair_batch(*pairs.take(ids), self.special_tokens)

    def _pair_ids(self, positions: np.ndarray) -> np.ndarray:
        """Return the ids [B] of the pairs at positions [B] of the run."""
        groups, offsets = np.divmod(positions, GROUPED_BATCHES * self.batch_size)
        ids = np.empty(len(positions), np.int64)
        for group in np.unique(groups).tolist():
            is_here = groups == group
            ids[is_here] = self._ids_of_group(group)[offsets[is_here]]
        return ids

    def _ids_of_group(self, group: int) -> np.ndarray:
        """Return the ids of the pairs at all positions of a group of batches."""
        size = GROUPED_BATCHES * self.batch_size
        ids = SequenceOrder(len(self._train), self.seed).sequence_ids(np.arange(group * size, (group + 1) * size))
        sources, targets = self._train.lengths[ids].T
        batches = ids[np.lexsort((sources, targets))].reshape(GROUPED_BATCHES, self.batch_size)
        order = SequenceOrder(GROUPED_BATCHES, derive_key(self.seed, "batches", group))
        return batches[order.sequence_ids(np.arange(GROUPED_BATCHES))].ravel()
