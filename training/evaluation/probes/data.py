"""`TaskData`: the words and labels of a probing task, as indices, in three splits."""

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
        """Number of tokens."""
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
    """Name of the task, such as "pos"."""
    words: list[str]
    """Distinct words of all splits, lowercase and sorted."""
    labels: list[str]
    """Distinct labels of all splits, sorted."""
    train: Split
    validation: Split
    test: Split
    has_spans: bool
    """Whether labels are IOB1 tags (O, or I- and B- with the type of a span), so that spans can be scored."""


def make_task(
    name: str,
    train: Iterable[Sentence],
    validation: Iterable[Sentence],
    test: Iterable[Sentence],
    has_spans: bool,
) -> TaskData:
    """Return a task from the sentences of three splits, with lowercase words.

    Args:
        name: name of the task.
        train, validation, test: sentences of each split, with at least one word each.
        has_spans: whether labels are IOB1 tags.
    """
    sentences_of_splits = [
        [[(word.lower(), label) for word, label in sentence] for sentence in split]
        for split in (train, validation, test)
    ]
    tokens = [token for sentences in sentences_of_splits for sentence in sentences for token in sentence]
    words, labels = (sorted(set(column)) for column in zip(*tokens, strict=True))
    word_numbers = {word: number for number, word in enumerate(words)}
    label_numbers = {label: number for number, label in enumerate(labels)}
    splits = []
    for sentences in sentences_of_splits:
        columns = [
            (word_numbers[word], label_numbers[label], number)
            for number, sentence in enumerate(sentences)
            for word, label in sentence
        ]
        splits.append(Split(*np.array(columns, np.int64).T))
    return TaskData(name, words, labels, splits[0], splits[1], splits[2], has_spans)
