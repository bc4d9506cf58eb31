"""Data of a probing task: words and labels of sentences, as indices."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

# Words of a sentence with their labels.
Sentence = Sequence[tuple[str, str]]


class Pairs(NamedTuple):
    """Distinct pairs of a word and a label, with their counts."""

    words: np.ndarray
    """(n,) int64, indices into `TaskData.words`."""
    labels: np.ndarray
    """(n,) int64, indices into `TaskData.labels`."""
    counts: np.ndarray
    """(n,) int64, number of tokens of each pair."""


@dataclass(frozen=True)
class Split:
    """Tokens of one split of a task, in the order of the text."""

    words: np.ndarray
    """(n,) int64, indices into `TaskData.words`."""
    labels: np.ndarray
    """(n,) int64, indices into `TaskData.labels`."""
    sentences: np.ndarray
    """(n,) int64, index of each token's sentence, ascending."""

    def __len__(self) -> int:
        """Return the number of tokens."""
        return len(self.words)

    @cached_property
    def pairs(self) -> Pairs:
        """Distinct pairs of a word and a label, with their counts."""
        distinct, counts = np.unique(np.stack([self.words, self.labels]), axis=1, return_counts=True)
        return Pairs(distinct[0], distinct[1], counts)


@dataclass(frozen=True)
class TaskData:
    """Probing task: words, labels, and the train, validation and test splits."""

    name: str
    words: list[str]
    """Distinct words of all splits, lowercase and sorted."""
    labels: list[str]
    """Distinct labels of all splits, sorted."""
    train: Split
    validation: Split
    test: Split
    has_spans: bool
    """Whether labels are IOB1 tags."""


def make_task(
    name: str,
    train: Iterable[Sentence],
    validation: Iterable[Sentence],
    test: Iterable[Sentence],
    has_spans: bool,
) -> TaskData:
    """Return a task from the sentences of three splits; words are lowercased."""
    parts = [[[(word.lower(), label) for word, label in s] for s in part] for part in (train, validation, test)]
    tokens = [token for part in parts for sentence in part for token in sentence]
    words, labels = (sorted(set(column)) for column in zip(*tokens, strict=True))
    word_numbers = {word: number for number, word in enumerate(words)}
    label_numbers = {label: number for number, label in enumerate(labels)}
    splits = []
    for part in parts:
        columns = [
            (word_numbers[word], label_numbers[label], number)
            for number, sentence in enumerate(part)
            for word, label in sentence
        ]
        splits.append(Split(*np.array(columns, np.int64).T))
    return TaskData(name, words, labels, splits[0], splits[1], splits[2], has_spans)
