"""What a probe is trained and measured on: labeled words in sentences, numbered."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

# A sentence as read: its words and their labels.
Sentence = Sequence[tuple[str, str]]


class Pairs(NamedTuple):
    """Words with labels, each weighing as many tokens as it stands for."""

    words: np.ndarray
    """(n,) int64, into `TaskData.words`."""
    labels: np.ndarray
    """(n,) int64, into `TaskData.labels`."""
    counts: np.ndarray
    """(n,) int64, tokens."""


@dataclass(frozen=True)
class Split:
    """The tokens of one part of a task, in the order of the text."""

    words: np.ndarray
    """(n,) int64, into `TaskData.words`."""
    labels: np.ndarray
    """(n,) int64, into `TaskData.labels`."""
    sentences: np.ndarray
    """(n,) int64, the number of the sentence that a token stands in, ascending."""

    def __len__(self) -> int:
        """Tokens."""
        return len(self.words)

    @cached_property
    def pairs(self) -> Pairs:
        """The distinct pairs of a word and a label, with how often each occurs."""
        distinct, counts = np.unique(np.stack([self.words, self.labels]), axis=1, return_counts=True)
        return Pairs(distinct[0], distinct[1], counts)


@dataclass(frozen=True)
class TaskData:
    """A task: its words and labels, and the parts to train on, to choose by and to measure on."""

    name: str
    words: list[str]
    """The distinct words of all parts, in lower case and sorted."""
    labels: list[str]
    """The distinct labels of all parts, sorted."""
    train: Split
    validation: Split
    test: Split
    has_spans: bool
    """Whether labels are IOB1 tags of spans."""


def make_task(
    name: str,
    train: Iterable[Sentence],
    validation: Iterable[Sentence],
    test: Iterable[Sentence],
    has_spans: bool,
) -> TaskData:
    """Number the words and labels of three lists of sentences; words become lower case."""
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
