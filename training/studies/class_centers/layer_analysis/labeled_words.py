"""Labeled words as inputs of a language model, and the accuracy of linear probes on their hidden states."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from tokenizers import Tokenizer

from bitcipher.errors import BitcipherError
from training.data.examples import Batch
from training.data.special_tokens import special_tokens
from training.data.tokenizer_files import plain_text_tokenizer
from training.evaluation.probes.data import Split, TaskData
from training.models.options import TRAITS
from training.studies.class_centers.layer_analysis.hidden_states import layer_states, states_at
from training.studies.class_centers.layer_analysis.linear_probe import probe_accuracy

if TYPE_CHECKING:
    from transformers import PreTrainedModel

# Approximate maximum number of words of a split whose states are in memory: 90 MiB for nine layers of hidden size 256.
MAX_WORDS = 10_000
SENTENCES_PER_BATCH = 32


@dataclass(frozen=True)
class LabeledWords:
    """Sentences as model inputs, with the positions of labeled words."""

    batches: tuple[Batch, ...]
    """`input_ids` and `attention_mask`, [B, S] int64 each."""
    offsets: tuple[np.ndarray, ...]
    """For each batch, the offsets of each word's last token in the flattened batch, [N] int64."""
    labels: np.ndarray
    """[N over all batches] int64: label id of each word, in the order of `offsets`."""


def label_words(split: Split, task: TaskData, tokenizer: Tokenizer, architecture: str, max_length: int) -> LabeledWords:
    """Convert the sentences of a split to model inputs. From a large split, only evenly spaced sentences are used.

    A sentence is its words joined with spaces, lowercased as for all probes. A word is represented by its last token,
    because a decoder has not read the whole word before. Words beyond `max_length`, or without a token, are left out.

    Args:
        split: sentences as ids of words and labels.
        task: task that the split belongs to, with the texts of the words.
        tokenizer: tokenizer of the model.
        architecture: `ModelOptions.architecture` of the model, which determines the special tokens of a sentence.
        max_length: maximum number of tokens that the model reads.

    Raises:
        BitcipherError: if no word is left.
    """
    specials = special_tokens(tokenizer)
    before, after = {
        "encoder": ([specials.begin], [specials.end]),
        "decoder": ([specials.end], []),
        "encoder-decoder": ([], [specials.end]),
    }[TRAITS[architecture].kind]
    encoder, max_tokens = plain_text_tokenizer(tokenizer), max_length - len(before) - len(after)
    rows, columns, labels = [], [], []
    for words, word_labels in _sentences(split, task):
        encoding = encoder.encode(" ".join(words), add_special_tokens=False)
        last = _last_tokens(words, encoding.offsets[:max_tokens])
        rows.append([*before, *encoding.ids[:max_tokens], *after])
        columns.append(np.array([len(before) + token for token in last.values()], np.int64))
        labels += [word_labels[word] for word in last]
    if not labels:
        raise BitcipherError(
            f"The tokenizer has no token for any word of the task {task.name}; use labeled words of its language."
        )
    batches = [
        _batch(rows[start : start + SENTENCES_PER_BATCH], specials.pad)
        for start in range(0, len(rows), SENTENCES_PER_BATCH)
    ]
    offsets = [
        np.concatenate(
            [
                row * batch["input_ids"].shape[1] + in_row
                for row, in_row in enumerate(columns[start : start + SENTENCES_PER_BATCH])
            ]
        )
        for batch, start in zip(batches, range(0, len(rows), SENTENCES_PER_BATCH), strict=True)
    ]
    return LabeledWords(tuple(batches), tuple(offsets), np.array(labels, np.int64))


def word_accuracies(model: "PreTrainedModel", train: LabeledWords, test: LabeledWords) -> np.ndarray:
    """Return the test accuracy of a linear probe of each layer, [layers] float64."""
    states = [
        np.concatenate(
            [
                states_at(layer_states(model, batch), offsets)
                for batch, offsets in zip(words.batches, words.offsets, strict=True)
            ],
            axis=1,
        )
        for words in (train, test)
    ]
    return np.array(
        [
            probe_accuracy(train_states, train.labels, test_states, test.labels)
            for train_states, test_states in zip(*states, strict=True)
        ]
    )


def _sentences(split: Split, task: TaskData) -> Iterator[tuple[list[str], np.ndarray]]:
    """Yield the words and labels of evenly spaced sentences, about `MAX_WORDS` words in total."""
    ends = np.flatnonzero(np.diff(split.sentences, append=-1)) + 1
    starts = np.concatenate([[0], ends[:-1]])
    step = -(-len(split) // MAX_WORDS)
    for start, end in zip(starts[::step], ends[::step], strict=True):
        yield [task.words[number] for number in split.words[start:end]], split.labels[start:end]


def _last_tokens(words: list[str], offsets: list[tuple[int, int]]) -> dict[int, int]:
    """Return the index of each word's last token, by the index of the word."""
    lengths = np.array([len(word) for word in words])
    ends = np.cumsum(lengths + 1) - 1
    starts = (ends - lengths).tolist()
    last = {}
    for token, (_, end) in enumerate(offsets):
        word = bisect_right(starts, end - 1) - 1
        if word >= 0 and end - 1 < ends[word]:  # otherwise the token ends with the following space
            last[word] = token
    return last


def _batch(rows: list[list[int]], pad: int) -> Batch:
    ids = np.full((len(rows), max(map(len, rows))), pad, np.int64)
    mask = np.zeros_like(ids)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = row
        mask[number, : len(row)] = 1
    return {"input_ids": ids, "attention_mask": mask}
