"""Sentences with labels at one or more levels."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bitcipher.errors import BitcipherError
from training.data.table_rows import list_tables, read_columns
from training.data.token_shards import is_validation

# Share of the sentences in the test part, if no test files are given.
TEST_FRACTION = 0.2


@dataclass(frozen=True)
class LabeledSentences:
    """N sentences with their labels at each level."""

    texts: tuple[str, ...]
    labels: dict[str, np.ndarray]
    """[N] strings by the name of the level, in order."""

    def take(self, numbers: np.ndarray) -> "LabeledSentences":
        """Return the sentences with the given numbers."""
        texts = tuple(self.texts[number] for number in numbers.tolist())
        return LabeledSentences(texts, {level: values[numbers] for level, values in self.labels.items()})


def read_sentences(patterns: Sequence[str], text_column: str, label_columns: Sequence[str]) -> LabeledSentences:
    """Read sentences from tables: TSV, or JSON lines.

    Args:
        patterns: paths or URIs of files, folders or globs.
        text_column: column of the texts.
        label_columns: columns of the labels at each level, at least one.

    Raises:
        BitcipherError: if a file is malformed or lacks a column, or there are no rows.
    """
    columns = (text_column, *label_columns)
    rows = [row for source in list_tables(patterns) for row in read_columns(source, columns)]
    if not rows:
        raise BitcipherError(f"{', '.join(patterns)} has no sentences; provide some.")
    texts, *labels = zip(*rows, strict=True)
    return LabeledSentences(texts, {name: np.array(of) for name, of in zip(label_columns, labels, strict=True)})


def split_sentences(sentences: LabeledSentences) -> tuple[LabeledSentences, LabeledSentences]:
    """Return a training and a test part; a hash of a text decides its part, so equal texts are in the same.

    Raises:
        BitcipherError: if a part is empty.
    """
    is_test = np.array([is_validation(text, TEST_FRACTION) for text in sentences.texts])
    if is_test.all() or not is_test.any():
        raise BitcipherError(
            f"{len(sentences.texts):,} sentences are too few for a training and a test part; provide more, or test "
            "files."
        )
    return sentences.take(np.flatnonzero(~is_test)), sentences.take(np.flatnonzero(is_test))
