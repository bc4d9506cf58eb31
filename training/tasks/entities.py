"""Named-entity recognition on CoNLL-2003: a label for each word."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from bitcipher.files import storage
from training.data.conll import read_conll2003
from training.metrics.classification import accuracy
from training.metrics.label_metrics import span_f1
from training.tasks.base import IGNORED, Features, Kind, Part, check_outputs, get_examples
from training.tasks.encoder import Encoder, Pieces

OUTSIDE = "O"
# Names of the files of training and of evaluation.
ENTITY_FILES = ("eng.train", "eng.testa")


@dataclass(frozen=True)
class EntityTask:
    """Token classification task: see `training.tasks.base.Task`. An example is a sentence of words with IOB1 tags."""

    name: str
    labels: tuple[str, ...]
    """Tags by number; O (outside of any entity) is number 0."""
    train: tuple[tuple[tuple[str, str], ...], ...]
    """Training sentences; each consists of pairs of a word and its tag."""
    validation: tuple[tuple[tuple[str, str], ...], ...]
    """Validation sentences, like `train`."""
    remarks: tuple[str, ...] = ()
    kind: Kind = "token-classification"

    @property
    def main_metric(self) -> str:
        """F1 of spans."""
        return "f1"

    def features(self, part: Part, encoder: Encoder) -> Features:
        """Return the sentences, with words separated by spaces; the first token of a word has its label.

        A sentence that is too long continues in another row at a word boundary, so that no word is left out.
        """
        sentences = get_examples(self, part)
        numbers = {label: number for number, label in enumerate(self.labels)}
        room = encoder.room(pair=False)
        texts, owners, marked = [], [], []
        for number, (sentence, pieces) in enumerate(zip(sentences, _tokenize(sentences, encoder), strict=True)):
            words, is_first = _words_of(pieces, sentence)
            for first, last in _rows(words, room):
                texts.append((pieces.ids[first:last], None))
                owners.append(number)
                marked.append(np.where(is_first, words, -1)[first:last])

        inputs = encoder.rows(texts)
        word_numbers = np.full(inputs["input_ids"].shape, -1, np.int32)
        labels = np.full(word_numbers.shape, IGNORED, np.int64)
        for row, (owner, words) in enumerate(zip(owners, marked, strict=True)):
            word_numbers[row, 1 : len(words) + 1] = words
            for token in np.flatnonzero(words >= 0):
                labels[row, token + 1] = numbers[sentences[owner][words[token]][1]]
        notes = {"sentences": np.array(owners, np.int64), "words": word_numbers}
        return Features(inputs, {"labels": labels}, notes)

    def predictions(self, features: Features, outputs: dict[str, np.ndarray]) -> list[list[str]]:
        """Return the label of each word of each sentence; O for a word without tokens."""
        check_outputs(self, outputs)
        likeliest = np.asarray(outputs["logits"]).argmax(axis=2)
        tags = [[OUTSIDE] * len(sentence) for sentence in self.validation]
        for row, column in np.argwhere(features.notes["words"] >= 0):
            sentence, word = features.notes["sentences"][row], features.notes["words"][row, column]
            tags[sentence][word] = self.labels[likeliest[row, column]]
        return tags

    def score(self, predictions: Sequence[Sequence[str]]) -> dict[str, float]:
        """Return `f1` of spans and `accuracy` of words, in percent."""
        truth = [tag for sentence in self.validation for _, tag in sentence]
        predicted = list(chain.from_iterable(predictions))
        correct = accuracy(np.array(truth), np.array(predicted))
        sentences = [number for number, sentence in enumerate(self.validation) for _ in sentence]
        return {
            "f1": 100 * span_f1(truth, predicted, sentences),
            "accuracy": correct,
        }

    def baselines(self) -> dict[str, list[list[str]]]:
        """Return the label O for all words."""
        return {"no entity": [[OUTSIDE] * len(sentence) for sentence in self.validation]}


def read_entities(folder: str) -> EntityTask:
    """Read CoNLL-2003: eng.train for training and eng.testa for evaluation, with labels as in the files (IOB1).

    Args:
        folder: path or URI of the folder with both files.

    Raises:
        BitcipherError: if a file is missing or has another format.
    """
    train, validation = (
        tuple(tuple(sentence) for document in read_conll2003(storage.join(folder, name)) for sentence in document)
        for name in ENTITY_FILES
    )
    tags = {tag for sentence in (*train, *validation) for _, tag in sentence}
    return EntityTask("CoNLL-2003", (OUTSIDE, *sorted(tags - {OUTSIDE})), train, validation)


def _tokenize(sentences: Sequence[tuple[tuple[str, str], ...]], encoder: Encoder) -> list[Pieces]:
    return encoder.pieces([" ".join(word for word, _ in sentence) for sentence in sentences])


def _words_of(pieces: Pieces, sentence: tuple[tuple[str, str], ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return the index of each token's word, and whether the token is the first one of its word."""
    lengths = [len(word) + 1 for word, _ in sentence]
    begins = np.cumsum([0, *lengths[:-1]])
    words = np.searchsorted(begins, pieces.offsets[:, 0], side="right") - 1
    is_text = pieces.offsets[:, 0] < pieces.offsets[:, 1]
    is_first = np.zeros(len(words), bool)
    is_first[np.flatnonzero(is_text)[np.unique(words[is_text], return_index=True)[1]]] = True
    return words, is_first


def _rows(words: np.ndarray, room: int) -> list[tuple[int, int]]:
    """Return the first token and the end of each row, with row breaks between words."""
    rows: list[tuple[int, int]] = []
    first = 0
    while first < len(words):
        last = min(first + room, len(words))
        if last < len(words):
            begins = [index for index in range(first + 1, last + 1) if words[index] != words[index - 1]]
            last = begins[-1] if begins else last
        rows.append((first, last))
        first = last
    return rows
