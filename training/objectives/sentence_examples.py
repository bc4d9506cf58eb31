"""Training and validation examples of a run on views of sentences."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from training.data.counter_rng import derive_key
from training.data.examples import Batch, EvaluatedTogether
from training.data.special_tokens import SpecialTokens
from training.data.token_sentences import TokenSentences
from training.data.token_streams import SequenceOrder, TokenDataset
from training.objectives.sentence_views import SentenceViews


@dataclass(frozen=True)
class SentenceExamples(EvaluatedTogether):
    """Two views of each sentence, shuffled in each epoch; implements `training.data.examples.Examples`."""

    text: TokenDataset
    """Token shards whose documents are the sentences."""
    objective: SentenceViews
    length: int
    """Maximum number of positions of a view; longer sentences are cut into several."""
    seed: int
    """Seed of the order of the sentences and of their views."""
    special_tokens: SpecialTokens

    @cached_property
    def _train(self) -> TokenSentences:
        return TokenSentences(self.text.train, self.objective.text_length(self.length), "training")

    @cached_property
    def _validation(self) -> TokenSentences:
        return TokenSentences(self.text.validation, self.objective.text_length(self.length), "validation")

    @property
    def tokens_per_example(self) -> int:
        """Mean number of tokens of a training sentence, rounded up; each is read twice."""
        return int(np.ceil(self._train.lengths.mean()))

    @property
    def validation_size(self) -> int:
        """Number of validation sentences."""
        return len(self._validation)

    def training_batch(self, positions: np.ndarray) -> Batch:
        """Return two views of the training sentences at positions [B] of the run."""
        ids = SequenceOrder(len(self._train), self.seed).sequence_ids(positions)
        return self._make_batch(self._train, ids, positions, derive_key(self.seed, "training"))

    def validation_batch(self, ids: np.ndarray) -> Batch:
        """Return two views of the validation sentences with ids [B]; they do not depend on the seed of the run."""
        return self._make_batch(self._validation, ids, ids, derive_key("validation"))

    def _make_batch(self, sentences: TokenSentences, ids: np.ndarray, row_ids: np.ndarray, key: int) -> Batch:
        return self.objective.make_view_batch(sentences.take(ids), row_ids, key, self.special_tokens)
