"""Nearest class-center accuracy and mismatch of target tokens by layer.

Ben-Shaul & Dekel (2022), Nearest Class-Center Simplification through Intermediate Layers, section 4.1; the slides
Basics of NLP and SSL (Ben-Shaul 2023) show the metrics for encoders.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from training.layer_analysis.class_means import class_means, nearest_class_means
from training.layer_analysis.hidden_states import layer_states, states_at
from training.layer_analysis.token_classes import samples_of
from training.loop import Batch
from training.models import logits

if TYPE_CHECKING:
    from transformers import PreTrainedModel

# Maximum number of logits in memory: 64 MiB in float32.
MAX_LOGITS = 2**24

ACCURACY, MISMATCH, MODEL_ACCURACY = "ncc_accuracy", "ncc_mismatch", "model_accuracy"


def token_metrics(
    model: "PreTrainedModel", train: Sequence[Batch], held_out: Sequence[Batch], tokens: np.ndarray
) -> dict[tuple[str, str], np.ndarray]:
    """Return nearest-class-mean accuracy and mismatch of each layer, and the accuracy of the model.

    A sample is the hidden state at the position of a target token, and its class is that token. Held-out samples are
    compared with the class means of the training samples. The model's own prediction is its most likely token among
    the classes.

    Args:
        model: model in evaluation mode.
        train, held_out: batches of an objective.
        tokens: [K] int64, class tokens.

    Returns:
        Arrays [layers] float64 by part (`train`, `held out`) and metric; NaN if a part has no sample. `ncc_accuracy` is
        the fraction of samples whose nearest class mean is that of the true class. `ncc_mismatch` is the fraction whose
        nearest class mean belongs to another class than the model's prediction. `model_accuracy`, equal for all
        layers, is the fraction that the model predicts correctly.
    """
    centers = class_means(((states, classes) for states, classes in _samples(model, train, tokens)), len(tokens))
    metrics = {}
    for part, batches in (("train", train), ("held out", held_out)):
        correct, mismatched, model_correct = np.zeros(len(centers)), np.zeros(len(centers)), 0
        total = 0
        for states, classes in _samples(model, batches, tokens):
            nearest = nearest_class_means(states, centers)
            predicted = _predictions(model, states[-1], tokens)
            correct += (nearest == classes).sum(axis=1)
            mismatched += (nearest != predicted).sum(axis=1)
            model_correct += (predicted == classes).sum()
            total += len(classes)
        counts = {ACCURACY: correct, MISMATCH: mismatched, MODEL_ACCURACY: np.full(len(centers), float(model_correct))}
        metrics |= {
            (part, name): count / total if total else np.full(len(centers), np.nan) for name, count in counts.items()
        }
    return metrics


def _samples(
    model: "PreTrainedModel", batches: Sequence[Batch], tokens: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for batch in batches:
        offsets, classes = samples_of(batch, tokens)
        if len(offsets):
            yield states_at(layer_states(model, batch), offsets), classes


@torch.no_grad()
def _predictions(model: "PreTrainedModel", states: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    rows = max(1, MAX_LOGITS // model.config.vocab_size)
    class_tokens = torch.from_numpy(tokens).to(model.device)
    chunks = torch.from_numpy(states).to(model.device).split(rows)
    return torch.cat([logits(model, chunk)[:, class_tokens].argmax(dim=1) for chunk in chunks]).cpu().numpy()
