"""Evaluation of word vectors by probes."""

from collections.abc import Iterable
from typing import Annotated

import numpy as np
import torch
from pydantic import Field

from bitcipher.errors import BitcipherError
from bitcipher.files.records import FROM_LIST, Record
from bitcipher.table.keys import Oov, check_oov
from bitcipher.vectors.cipher_vectors import CipherVectors
from bitcipher.vocabulary import OOV
from training.evaluation.probes.data import TaskData
from training.evaluation.probes.fit import fit
from training.evaluation.probes.model import predict
from training.metrics import label_metrics

Score = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class SeedResult(Record):
    """Scores of one trained probe, between 0 and 1."""

    seed: int
    """Seed of the probe."""
    epoch: int = Field(ge=1)
    """Selected epoch, counted from 1."""
    validation_accuracy: Score
    """Fraction of correct labels in the validation split."""
    accuracy: Score
    """Fraction of correct labels in the test split."""
    weighted_f1: Score
    """Mean F1 over labels in the test split, weighted by their number of tokens."""
    span_f1: Score | None
    """F1 of spans in the test split; None if labels are not IOB1 tags."""


class ProbeResult(Record):
    """Results of one table of vectors on one task."""

    task: str
    """Name of the task."""
    seeds: Annotated[tuple[SeedResult, ...], FROM_LIST] = Field(min_length=1)
    """Scores for each seed."""
    covered_words: Score
    """Fraction of the distinct test words that have a vector."""
    covered_tokens: Score
    """Fraction of the test tokens that have a vector."""

    def mean(self, metric: str) -> float:
        """Return the mean of a score over seeds. `metric` is the name of a field of `SeedResult`."""
        return float(np.mean(self._values(metric)))

    def spread(self, metric: str) -> float:
        """Return the sample standard deviation of a score over seeds (divisor n - 1), 0 for a single seed."""
        return float(np.std(self._values(metric), ddof=1)) if len(self.seeds) > 1 else 0.0

    def _values(self, metric: str) -> list[float]:
        return [getattr(seed, metric) for seed in self.seeds]


def probe(
    vectors: CipherVectors,
    task: TaskData,
    seeds: Iterable[int] = (0, 1, 2),
    oov: Oov = False,
) -> ProbeResult:
    """Train one probe per seed and evaluate it on the test split.

    All vectors are scaled to length √d (d is the number of dimensions), so that their values have the scale that
    initial weights and learning rate assume. README.md compares this length with the original lengths.

    Args:
        vectors: vectors of this project or of another tool.
        task: the task, from `training.evaluation.probes.tasks.read_task`.
        seeds: seeds of the probes.
        oov: "spelling" to give words without a vector one from their character n-grams, True to give them that of
            `<oov>`. With False, they have that of `<oov>` if the table has it, otherwise zeros.

    Raises:
        BitcipherError: if no test word has a vector, a vector is not finite, `seeds` is empty, or the vectors have no
            n-grams or no `<oov>` for unknown words.
    """
    features, covered = look_up(vectors, task.words, oov)
    test = np.unique(task.test.words)
    if not covered[test].any():
        raise BitcipherError(
            f"None of the {len(test):,} words of the task {task.name} has a vector; use vectors of the same language, "
            "with lowercase words."
        )
    results = tuple(_probe_once(torch.from_numpy(features).to(_device()), task, seed) for seed in seeds)
    return ProbeResult(
        task=task.name,
        seeds=results,
        covered_words=float(covered[test].mean()),
        covered_tokens=float(covered[task.test.words].mean()),
    )


def look_up(vectors: CipherVectors, words: list[str], oov: Oov = False) -> tuple[np.ndarray, np.ndarray]:
    """Return features of words, (n, d) float32 of length √d or 0, and whether each word has a vector, (n,) bool."""
    check_oov(oov)
    rows = np.array([vectors.key_to_index.get(word, -1) for word in words])
    covered = rows >= 0
    features = np.zeros((len(words), vectors.vector_size), np.float32)
    features[covered] = np.asarray(vectors.vectors)[rows[covered]]
    unknown = [word for word, is_covered in zip(words, covered, strict=True) if not is_covered]
    if unknown and oov == "spelling":
        features[~covered] = vectors.spelling_for(unknown[0]).predict(unknown)
    elif unknown and (oov or OOV in vectors):
        features[~covered] = vectors.get_vector(unknown[0], oov=True)
    lengths = np.linalg.norm(features, axis=1, keepdims=True)
    return np.sqrt(vectors.vector_size, dtype=np.float32) * features / np.where(lengths > 0, lengths, 1), covered


def _probe_once(features: torch.Tensor, task: TaskData, seed: int) -> SeedResult:
    trained, epoch, validation_accuracy = fit(features, len(task.labels), task.train.pairs, task.validation.pairs, seed)
    predicted = predict(trained, features).cpu().numpy()[task.test.words]
    truth = task.test.labels
    span_f1 = None
    if task.has_spans:
        tags = np.array(task.labels)
        span_f1 = label_metrics.span_f1(tags[truth].tolist(), tags[predicted].tolist(), task.test.sentences.tolist())
    return SeedResult(
        seed=seed,
        epoch=epoch,
        validation_accuracy=validation_accuracy,
        accuracy=label_metrics.accuracy(truth, predicted),
        weighted_f1=label_metrics.weighted_f1(truth, predicted),
        span_f1=span_f1,
    )


def _device() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
