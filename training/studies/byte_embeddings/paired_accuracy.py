"""Accuracy of a model's pre-training tasks by batch, and paired t-tests between two models over the same batches."""

from dataclasses import dataclass

import numpy as np
import torch
from scipy.stats import ttest_rel
from transformers import PreTrainedModel

from bitcipher.errors import BitcipherError
from training.loop.distributed import World
from training.loop.evaluation import evaluation_ids
from training.loop.step import to_device
from training.models.parts import hidden_states
from training.objectives.base import TextExamples
from training.objectives.masked import MaskedLM

MASKED, SENTENCE = "masked_accuracy", "sentence_accuracy"


@dataclass(frozen=True)
class BatchAccuracy:
    """Correct and all predictions of one task in each of n batches.

    Attributes:
        correct: [n] number of correct predictions.
        total: [n] number of predictions.
    """

    correct: np.ndarray
    total: np.ndarray

    @property
    def accuracy(self) -> float:
        """Share of correct predictions in all batches, in percent."""
        return 100 * float(self.correct.sum() / self.total.sum())

    @property
    def of_batches(self) -> np.ndarray:
        """Share of correct predictions in each batch, [n]."""
        return self.correct / self.total


@torch.no_grad()
def measure_accuracy(
    model: PreTrainedModel, examples: TextExamples, eval_sequences: int, batch_size: int, world: World
) -> dict[str, BatchAccuracy]:
    """Return the accuracy of masked tokens, and of sentences if the objective predicts them, by batch.

    Args:
        model: a masked language model.
        examples: examples of a text by a masked objective, whose validation split is used.
        eval_sequences: maximum number of examples, a fixed sample.
        batch_size: examples per batch.
        world: device of the model.
    """
    objective = examples.objective
    assert isinstance(objective, MaskedLM)
    ids = evaluation_ids(examples.validation_size, eval_sequences)
    sums: dict[str, list[np.ndarray]] = {}
    model.eval()
    for start in range(0, len(ids), batch_size):
        batch = to_device(examples.validation_batch(ids[start : start + batch_size]), world)
        if SENTENCE in objective.metrics:
            rows = objective.row_sums(model, batch)
            found = {name: rows[name] for name in (MASKED, SENTENCE)}
        else:
            found = {MASKED: objective.score_masked(model, hidden_states(model, batch), batch)[1]}
        for name, of_rows in found.items():
            sums.setdefault(name, []).append(of_rows.double().sum(0).cpu().numpy())
    return {name: BatchAccuracy(*np.array(values).T) for name, values in sums.items()}


def majority_accuracy(examples: TextExamples, eval_sequences: int, batch_size: int) -> dict[str, BatchAccuracy]:
    """Return the accuracy of the most frequent token, and of the most frequent answer for sentences, by batch.

    The arguments are those of `measure_accuracy`, and so are the examples.
    """
    ids = evaluation_ids(examples.validation_size, eval_sequences)
    batches = [examples.validation_batch(ids[start : start + batch_size]) for start in range(0, len(ids), batch_size)]
    arrays = {MASKED: "labels"} | ({SENTENCE: "is_random"} if SENTENCE in examples.objective.metrics else {})
    accuracies = {}
    for name, array in arrays.items():
        values = [np.asarray(batch[array]) for batch in batches]
        most_frequent = np.bincount(np.concatenate(values)).argmax()
        counts = [((of_batch == most_frequent).sum(), len(of_batch)) for of_batch in values]
        accuracies[name] = BatchAccuracy(*np.array(counts, float).T)
    return accuracies


def paired_p_value(first: BatchAccuracy, second: BatchAccuracy) -> float:
    """Return the p-value of a paired t-test over the accuracies of the same batches; 1 if they do not differ.

    Raises:
        BitcipherError: if there are fewer than two batches.
    """
    if len(first.total) < 2:
        raise BitcipherError("A paired t-test needs at least two batches; evaluate more sequences.")
    if np.array_equal(first.of_batches, second.of_batches):
        return 1.0
    return float(ttest_rel(first.of_batches, second.of_batches).pvalue)


def format_p_value(value: float) -> str:
    """Return "p = 0.123", or "p < 0.001"."""
    return f"p = {value:.3f}" if value >= 0.001 else "p < 0.001"
