"""What a table of vectors knows of a task: the figures of probes that see nothing else."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch

from bitcipher.errors import BitcipherError
from bitcipher.vectors import CipherVectors
from bitcipher.vocabulary import OOV
from training.probes import metrics
from training.probes.data import TaskData
from training.probes.fit import fit
from training.probes.model import predict


@dataclass(frozen=True)
class SeedResult:
    """One trained probe; shares are between 0 and 1."""

    seed: int
    epoch: int
    """The one that was kept."""
    validation_accuracy: float
    accuracy: float
    weighted_f1: float
    span_f1: float | None
    """None if labels are no tags of spans."""


@dataclass(frozen=True)
class ProbeResult:
    """The probes of one table on one task."""

    task: str
    seeds: tuple[SeedResult, ...]
    covered_words: float
    """Share of the distinct words of the test part that the table holds."""
    covered_tokens: float
    """The same by tokens."""

    def mean(self, figure: str) -> float:
        """Over seeds, of a figure by its name in `SeedResult`."""
        return float(np.mean(self._values(figure)))

    def spread(self, figure: str) -> float:
        """The standard deviation over seeds (n - 1), 0 for a single one."""
        return float(np.std(self._values(figure), ddof=1)) if len(self.seeds) > 1 else 0.0

    def _values(self, figure: str) -> list[float]:
        return [getattr(seed, figure) for seed in self.seeds]


def probe(vectors: CipherVectors, task: TaskData, seeds: Iterable[int] = (0, 1, 2)) -> ProbeResult:
    """Train a probe for each seed, and measure it on the test part.

    Words that the table does not hold have the vector of `<oov>`, or zeros if there is none. Every vector is scaled to
    length √d, so that its numbers have the size that first weights and learning rate are made for: rows of this
    project have length 1 anyway, and those of others do at least as well as at their own lengths (README.md).

    Args:
        vectors: of this project, or of any other.
        task: see `training.probes.tasks`.
        seeds: one probe for each.

    Raises:
        BitcipherError: if the table holds none of the words, or if a vector is not of finite numbers.
    """
    features, covered = look_up(vectors, task.words)
    test = np.unique(task.test.words)
    if not covered[test].any():
        raise BitcipherError(
            f"The vectors hold none of the {len(test):,} words of the task {task.name}: is it the same language, "
            "and are the words of the table in lower case?"
        )
    results = tuple(_probe_once(torch.from_numpy(features).to(_device()), task, seed) for seed in seeds)
    return ProbeResult(task.name, results, float(covered[test].mean()), float(covered[task.test.words].mean()))


def look_up(vectors: CipherVectors, words: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """The features of words, (n, d) float32 of length √d each or zero, and which the table holds, (n,) bool."""
    rows = np.array([vectors.key_to_index.get(word, -1) for word in words])
    covered = rows >= 0
    features = np.zeros((len(words), vectors.vector_size), np.float32)
    features[covered] = np.asarray(vectors.vectors)[rows[covered]]
    if OOV in vectors:
        features[~covered] = vectors.get_vector(OOV)
    lengths = np.linalg.norm(features, axis=1, keepdims=True)
    return np.sqrt(vectors.vector_size, dtype=np.float32) * features / np.where(lengths > 0, lengths, 1), covered


def _probe_once(features: torch.Tensor, task: TaskData, seed: int) -> SeedResult:
    trained, epoch, validation_accuracy = fit(features, len(task.labels), task.train.pairs, task.validation.pairs, seed)
    predicted = predict(trained, features).cpu().numpy()[task.test.words]
    truth = task.test.labels
    span_f1 = None
    if task.has_spans:
        tags = np.array(task.labels)
        span_f1 = metrics.span_f1(tags[truth].tolist(), tags[predicted].tolist(), task.test.sentences.tolist())
    figures = metrics.accuracy(truth, predicted), metrics.weighted_f1(truth, predicted), span_f1
    return SeedResult(seed, epoch, validation_accuracy, *figures)


def _device() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
