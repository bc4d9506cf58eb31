"""Scores of vectors of successive versions, and of probes that read the vectors of the next version.

Each record is computed once and appended to a file of JSON lines, so an interrupted run resumes.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from bitcipher.embedding.spectral.basis import find_rotation
from bitcipher.evaluation.neighbors import match_rows
from bitcipher.vectors.cipher_vectors import CipherVectors
from bitcipher.vocabulary import OOV
from training.evaluation.probes.data import TaskData
from training.evaluation.probes.fit import fit
from training.evaluation.probes.model import predict
from training.evaluation.probes.probe_scores import look_up
from training.metrics import label_metrics

# The most frequent words, whose cosines are compared.
COMMON_WORDS = 10_000


class Key(NamedTuple):
    """Name of the record of one table of vectors.

    Attributes:
        series: such as "kept", the name of tables that were made in the same way.
        version: version of the build.
        seed: seed of the probes; None for the scores without probes.
    """

    series: str
    version: int
    seed: int | None


class Record(NamedTuple):
    """Scores in percent, Spearman × 100 and cosines, by name.

    Attributes:
        own: scores of the vectors, or of probes that were trained on them.
        following: for "as they are" and "rotated", cosines with the vectors of the next version, and scores of the same
            probes on these.
    """

    own: dict[str, float]
    following: dict[str, dict[str, float]]


class EvaluationSets(NamedTuple):
    """What vectors are evaluated with: tasks of probes, files of word pairs, and a file of analogy questions."""

    tasks: Sequence[TaskData]
    similarity: Sequence[str]
    analogies: str


def score_versions(
    series: Mapping[str, Mapping[int, str]], seeds: int, sets: EvaluationSets, file: Path
) -> dict[Key, Record]:
    """Return a record per table and seed, and append those that the file lacks: one seed of all tables at a time.

    Args:
        series: for each series, the folder of the vectors of each version.
        seeds: number of seeds of the probes.
        sets: evaluation sets.
        file: JSON lines, each a key and a record.
    """
    file.touch()
    records = {Key(*key): Record(*record) for key, record in map(json.loads, file.read_text().splitlines())}
    keys = [Key(name, version, seed) for seed in (None, *range(seeds)) for name in series for version in series[name]]
    for key in keys:
        if key not in records:
            folders = series[key.series]
            records[key] = _score(key, load_units(folders[key.version]), folders.get(key.version + 1), sets)
            with file.open("a") as lines:
                lines.write(json.dumps([key, records[key]]) + "\n")
    return {key: records[key] for key in keys}


def _score(key: Key, vectors: CipherVectors, next_folder: str | None, sets: EvaluationSets) -> Record:
    following = {}
    if next_folder:
        later = load_units(next_folder)
        following = {"as they are": later, "rotated": rotate(later, vectors)}
    if key.seed is None:
        similarity = [vectors.evaluate_word_pairs(file).spearman for file in sets.similarity]
        analogies = vectors.evaluate_word_analogies(sets.analogies).accuracy
        own = {"similarity": 100 * float(np.mean(similarity)), "analogies": 100 * analogies}
        return Record(own, {name: {"cosine": median_cosine(vectors, later)} for name, later in following.items()})
    record = Record({}, {name: {} for name in following})
    for task in sets.tasks:
        features = _features(vectors, task)
        trained, *_ = fit(features, len(task.labels), task.train.pairs, task.validation.pairs, key.seed)
        record.own.update(_probe_scores(trained, features, task))
        for name, later in following.items():
            record.following[name].update(_probe_scores(trained, _features(later, task), task))
    return record


def load_units(folder: str) -> CipherVectors:
    """Load vectors without `<oov>`, which other tools lack, and scale their rows to length 1."""
    vectors = CipherVectors.load(folder)
    rows = np.flatnonzero(np.asarray(vectors.words) != OOV)
    units = vectors.vectors[rows]
    units /= np.maximum(np.linalg.norm(units, axis=1, keepdims=True), np.finfo(np.float32).tiny)
    return CipherVectors(vectors.words.take(rows), units)


def rotate(vectors: CipherVectors, earlier: CipherVectors) -> CipherVectors:
    """Rotate vectors to earlier ones by orthogonal Procrustes over the most frequent words.

    With these words alone and equal weights, rotated factorizations have higher cosines than with all words or with
    weights by count.
    """
    table, target = _common_rows(vectors, earlier)
    rotation = find_rotation(table, target, np.ones(len(table)))
    return CipherVectors(vectors.words, vectors.vectors @ rotation.astype(np.float32))


def median_cosine(earlier: CipherVectors, later: CipherVectors) -> float:
    """Return the median cosine of the most frequent words with themselves, for rows of length 1."""
    return float(np.median(np.einsum("ij,ij->i", *_common_rows(earlier, later))))


def _common_rows(vectors: CipherVectors, others: CipherVectors) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of the most frequent words of the first table in both tables, without words of one only."""
    rows = match_rows(vectors, others)[:COMMON_WORDS]
    shared = np.flatnonzero(rows >= 0)
    return vectors.vectors[shared], others.vectors[rows[shared]]


def _features(vectors: CipherVectors, task: TaskData) -> torch.Tensor:
    return torch.from_numpy(look_up(vectors, task.words)[0])


def _probe_scores(trained: nn.Module, features: torch.Tensor, task: TaskData) -> dict[str, float]:
    predicted, truth = predict(trained, features).numpy()[task.test.words], task.test.labels
    scores = {f"{task.name.upper()} accuracy": 100 * label_metrics.accuracy(truth, predicted)}
    if task.has_spans:
        tags: Any = np.array(task.labels)
        spans = label_metrics.span_f1(tags[truth].tolist(), tags[predicted].tolist(), task.test.sentences.tolist())
        scores[f"{task.name.upper()} span F1"] = 100 * spans
    return scores


def describe(values: Iterable[float], digits: int) -> str:
    """Return the median, and the lowest and highest if they differ."""
    ordered = sorted(values)
    low, middle, high = (f"{value:.{digits}f}" for value in (ordered[0], np.median(ordered), ordered[-1]))
    return middle if low == high else f"{middle} ({low} – {high})"
