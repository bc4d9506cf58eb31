"""Accuracy of minimal pairs by phenomenon, with confidence intervals."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest
from tokenizers import Tokenizer
from transformers import PreTrainedModel

from training.evaluation.minimal_pairs.pair_files import MinimalPair
from training.evaluation.minimal_pairs.sentence_likelihood import score_sentences

ALL = "all pairs"


@dataclass(frozen=True)
class PairAccuracy:
    """Accuracy on the pairs of a phenomenon."""

    phenomenon: str
    """Name of the phenomenon, or `ALL`."""
    pairs: int
    """Number of pairs."""
    accuracy: float
    """Percentage of pairs whose grammatical sentence is more likely than the other."""
    interval: tuple[float, float]
    """95 % confidence interval of the accuracy, in percent (Wilson 1927)."""
    ties: int
    """Pairs whose sentences are equally likely, because they have the same tokens. They count as wrong."""


def evaluate_pairs(
    model: PreTrainedModel, tokenizer: Tokenizer, pairs: Sequence[MinimalPair]
) -> tuple[PairAccuracy, ...]:
    """Return the accuracy on each phenomenon, in the order of its first pair, and last on all pairs.

    Args:
        model: decoder or encoder with a language-modeling head.
        tokenizer: tokenizer of the model.
        pairs: minimal pairs.

    Raises:
        BitcipherError: as for `score_sentences`.
    """
    scores = score_sentences(model, tokenizer, [text for pair in pairs for text in (pair.good, pair.bad)])
    differences = scores[::2] - scores[1::2]
    members: dict[str, list[int]] = defaultdict(list)
    for index, pair in enumerate(pairs):
        members[pair.phenomenon].append(index)
    groups = {**members, ALL: list(range(len(pairs)))}
    return tuple(_accuracy(name, differences[indices]) for name, indices in groups.items())


def _accuracy(name: str, differences: np.ndarray) -> PairAccuracy:
    correct, count = int((differences > 0).sum()), len(differences)
    interval = binomtest(correct, count).proportion_ci(0.95, method="wilson")
    bounds = (100 * float(interval.low), 100 * float(interval.high))
    return PairAccuracy(name, count, 100 * correct / count, bounds, int((differences == 0).sum()))
