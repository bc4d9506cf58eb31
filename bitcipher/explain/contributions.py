"""What an explanation consists of."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class Contribution(NamedTuple):
    """What a context word adds to a similarity.

    Attributes:
        offset: where it stands; -2 is two words before, 0 anywhere in the window.
        word: the context word.
        weight: what it adds; below 0 it tells words apart.
    """

    offset: int
    word: str
    weight: float


@dataclass(frozen=True)
class Explanation:
    """The parts of a similarity: contributions and rest add up to it.

    Attributes:
        words: the word, or the two words.
        similarity: their cosine; 1 for a word with itself, 0 where one has no vector.
        contributions: the strongest, first those that add or take most.
        rest: all others together, and what no context word stands for.
    """

    words: tuple[str, ...]
    similarity: float
    contributions: list[Contribution]
    rest: float


class DimensionShare(NamedTuple):
    """What a dimension of mode cat or sum adds to a similarity.

    Attributes:
        offset: of its block of dimensions; 0 for all offsets.
        bit: its bit of the code, from 0.
        weight: what it adds.
        contributions: the context words that put most there; with the others they add up to the weight.
    """

    offset: int
    bit: int
    weight: float
    contributions: list[Contribution]


class Parts(NamedTuple):
    """All parts of a similarity.

    Attributes:
        offsets: (n,) int64.
        contexts: (n,) int64, ranks; a context may be there once an offset.
        weights: (n,) float64.
        remainder: what no context word stands for.
    """

    offsets: np.ndarray
    contexts: np.ndarray
    weights: np.ndarray
    remainder: float

    @property
    def total(self) -> float:
        """The similarity."""
        return math.fsum([*self.weights.tolist(), self.remainder])

    def strongest(self, topn: int, words: Sequence[str]) -> tuple[list[Contribution], float]:
        """The strongest contributions, and the sum of the rest; ties go to the nearer offset's more frequent word."""
        order = np.lexsort([self.contexts, self.offsets, -np.abs(self.weights)])
        listed, others = order[:topn], order[topn:]
        contributions = [
            Contribution(int(self.offsets[part]), words[self.contexts[part]], float(self.weights[part]))
            for part in listed
            if self.weights[part]
        ]
        return contributions, math.fsum([*self.weights[others].tolist(), self.remainder])


def mean_of(one: Parts, other: Parts) -> Parts:
    """The mean of two explanations of the same similarity, from either word's side."""
    keys = np.stack([np.concatenate(pair) for pair in zip(one[:2], other[:2], strict=True)])
    (offsets, contexts), places = np.unique(keys, axis=1, return_inverse=True)
    weights = np.bincount(places.ravel(), np.concatenate([one.weights, other.weights]) / 2, len(offsets))
    return Parts(offsets, contexts, weights, (one.remainder + other.remainder) / 2)
