"""Explanations and the contributions that they consist of."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class Contribution(NamedTuple):
    """Contribution of a context word to a similarity.

    Attributes:
        offset: position of the context word; -2 is two words before, 0 is anywhere in the window.
        word: the context word.
        weight: the contribution. A negative one makes the words less similar.
    """

    offset: int
    word: str
    weight: float


class NgramContribution(NamedTuple):
    """Contribution of a character n-gram of a word to a similarity.

    Attributes:
        ngram: the n-gram, with `<` before the word and `>` after it.
        weight: the contribution. A negative one makes the words less similar.
    """

    ngram: str
    weight: float


@dataclass(frozen=True)
class Explanation:
    """A similarity as the sum of contributions and a rest.

    Attributes:
        words: the word, or the two words.
        similarity: their cosine; 1 for a word with itself, 0 if a word has a zero vector.
        contributions: the strongest contributions of context words, by absolute weight.
        ngrams: the strongest contributions of n-grams, by absolute weight, if the vectors depend on the spelling.
        rest: the sum of all other contributions, and of the part without a context word.
    """

    words: tuple[str, ...]
    similarity: float
    contributions: list[Contribution]
    ngrams: list[NgramContribution]
    rest: float


class DimensionShare(NamedTuple):
    """Contribution of a dimension of mode cat or sum to a similarity.

    Attributes:
        offset: offset of the dimension, 0 for the sum over all offsets.
        bit: bit of the code, counted from 0.
        weight: the contribution.
        contributions: the strongest context words. All context words together add up to the weight.
    """

    offset: int
    bit: int
    weight: float
    contributions: list[Contribution]


class ContributionArrays(NamedTuple):
    """All contributions to a similarity, as arrays.

    Attributes:
        offsets: (n,) int64, offset of each context word.
        contexts: (n,) int64, ranks of the context words. A word can occur once per offset.
        weights: (n,) float64, the contributions.
        ngrams: contributions of the n-grams of the words, by n-gram.
        remainder: the part of the similarity that belongs to no context word and to no n-gram.
    """

    offsets: np.ndarray
    contexts: np.ndarray
    weights: np.ndarray
    ngrams: dict[str, float]
    remainder: float

    @property
    def total(self) -> float:
        """The similarity: the sum of all contributions and the remainder."""
        return float(self.weights.sum()) + math.fsum([*self.ngrams.values(), self.remainder])

    def strongest(self, topn: int, words: Sequence[str]) -> tuple[list[Contribution], float]:
        """Return the strongest contributions, and the sum of all others. Ties are broken by offset, then by rank."""
        sizes = np.abs(self.weights)
        # Sorting all of the millions of contributions of a frequent word would take a second.
        strong = np.arange(len(sizes))
        if 0 < topn < len(sizes):
            strong = np.flatnonzero(sizes >= np.partition(sizes, -topn)[-topn])
        order = np.lexsort([self.contexts[strong], self.offsets[strong], -sizes[strong]])
        listed = strong[order[:topn]]
        others = np.ones(len(sizes), bool)
        others[listed] = False
        contributions = [
            Contribution(int(self.offsets[index]), words[int(self.contexts[index])], float(self.weights[index]))
            for index in listed
            if self.weights[index]
        ]
        return contributions, float(self.weights[others].sum()) + self.remainder

    def strongest_ngrams(self, topn: int) -> tuple[list[NgramContribution], float]:
        """Return the strongest contributions of n-grams, and the sum of all others. Ties are broken by n-gram."""
        ordered = sorted(self.ngrams.items(), key=lambda item: (-abs(item[1]), item[0]))
        return [NgramContribution(*item) for item in ordered[:topn]], math.fsum(weight for _, weight in ordered[topn:])


def average(first: ContributionArrays, second: ContributionArrays) -> ContributionArrays:
    """Return the mean of two explanations of a similarity: one by the contexts of each of the two words."""
    offsets, contexts = (np.concatenate(pair) for pair in zip(first[:2], second[:2], strict=True))
    width, lowest = int(contexts.max(initial=0)) + 1, int(offsets.min(initial=0))
    keys, inverse = np.unique((offsets - lowest) * width + contexts, return_inverse=True)
    weights = np.bincount(inverse, np.concatenate([first.weights, second.weights]) / 2, len(keys))
    offsets, contexts = keys // width + lowest, keys % width
    ngrams = {
        ngram: (first.ngrams.get(ngram, 0) + second.ngrams.get(ngram, 0)) / 2
        for ngram in [*first.ngrams, *(each for each in second.ngrams if each not in first.ngrams)]
    }
    return ContributionArrays(offsets, contexts, weights, ngrams, (first.remainder + second.remainder) / 2)
