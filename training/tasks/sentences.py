"""Classification and regression of sentences and sentence pairs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from training.metrics.classification import compute_metrics, main_metric
from training.tasks.base import Features, Kind, Part, check_outputs, get_examples
from training.tasks.encoder import Encoder


class SentenceExample(NamedTuple):
    """Sentence or sentence pair with its label."""

    first: str
    """The sentence, or the first sentence of the pair."""
    second: str | None
    """Second sentence of the pair; None for a single sentence."""
    label: float
    """Index of the label, or the value for regression."""


@dataclass(frozen=True)
class SentenceTask:
    """Classification or regression of sentences or sentence pairs: see `training.tasks.base.Task`."""

    name: str
    kind: Kind
    labels: tuple[str, ...]
    train: tuple[SentenceExample, ...]
    validation: tuple[SentenceExample, ...]
    metric_names: tuple[str, ...]
    """Names in `training.metrics.classification.METRICS`."""
    remarks: tuple[str, ...] = ()

    @property
    def main_metric(self) -> str:
        """The metric of the task, or the mean of its metrics."""
        return main_metric(self.metric_names)

    def features(self, part: Part, encoder: Encoder) -> Features:
        """Return one row per example. Long texts are truncated at their ends; in a pair, the longer sentence first."""
        examples = get_examples(self, part)
        firsts = [pieces.ids for pieces in encoder.pieces([example.first for example in examples])]
        seconds: list[np.ndarray | None] = [None] * len(examples)
        if is_pair := examples[0].second is not None:
            seconds = [pieces.ids for pieces in encoder.pieces([example.second or "" for example in examples])]
        room = encoder.room(pair=is_pair)
        whole = list(zip(firsts, seconds, strict=True))
        fitting = [_fit(first, second, room) for first, second in whole]
        truncated = sum(_size(before) != _size(after) for before, after in zip(whole, fitting, strict=True))
        dtype = np.float32 if self.kind == "regression" else np.int64
        return Features(
            inputs=encoder.rows(fitting),
            targets={"labels": np.array([example.label for example in examples], dtype)},
            notes={},
            remarks=_remarks(
                f"{truncated:,} of {len(examples):,} examples ({part}) were truncated to {encoder.length} tokens.",
                truncated,
            ),
        )

    def predictions(self, features: Features, outputs: dict[str, np.ndarray]) -> np.ndarray:
        """Return the index of the most likely label (int64) or the value (float64) of each example, [examples]."""
        check_outputs(self, outputs)
        logits = np.asarray(outputs["logits"])
        if self.kind == "regression":
            return logits.reshape(len(features)).astype(np.float64)
        return logits.argmax(axis=1)

    def score(self, predictions: Sequence[float] | np.ndarray) -> dict[str, float]:
        """Return the metrics of `metric_names` in percent, and their mean if there are several."""
        return compute_metrics(self.metric_names, np.array([e.label for e in self.validation]), np.asarray(predictions))

    def baselines(self) -> dict[str, np.ndarray]:
        """Return the most frequent label for classification, and no baseline for regression."""
        if self.kind == "regression":
            return {}
        seen = [int(example.label) for example in self.train or self.validation]
        return {"most frequent label": np.full(len(self.validation), np.bincount(seen).argmax())}


def _fit(first: np.ndarray, second: np.ndarray | None, room: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Truncate a text or a pair to `room` tokens, as in BERT.

    In a pair, the longer text is truncated to the length of the other text, and then both equally. If `room` is odd,
    the first text keeps one token more.
    """
    if second is None:
        return first[:room], None
    kept = min(len(first), max(room - len(second), (room + 1) // 2))
    return first[:kept], second[: room - kept]


def _size(texts: tuple[np.ndarray, np.ndarray | None]) -> int:
    return sum(len(text) for text in texts if text is not None)


def _remarks(sentence: str, number: int) -> tuple[str, ...]:
    return (sentence,) if number else ()
