"""Nearest class-center accuracy and mismatch of the target tokens of a language model."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import torch

from training.data.examples import Batch
from training.models.losses import max_predictions
from training.models.parts import logits
from training.studies.class_centers.layer_analysis.center_metrics import HELD_OUT, TRAIN, Samples, center_metrics
from training.studies.class_centers.layer_analysis.hidden_states import layer_states, states_at
from training.studies.class_centers.layer_analysis.token_classes import samples_of

if TYPE_CHECKING:
    from transformers import PreTrainedModel


def token_metrics(
    model: "PreTrainedModel", train: Sequence[Batch], held_out: Sequence[Batch], tokens: np.ndarray
) -> dict[tuple[str, str], np.ndarray]:
    """Return the metrics of `center_metrics` for target tokens.

    A sample is the hidden state at the position of a target token, and its class is that token. The model's own
    prediction is its most likely token among the classes.

    Args:
        model: model in evaluation mode.
        train, held_out: batches of an objective.
        tokens: [K] int64, class tokens.
    """
    parts = {TRAIN: train, HELD_OUT: held_out}
    samples = {part: partial(_samples, model, batches, tokens) for part, batches in parts.items()}
    return center_metrics(samples, len(tokens))


def _samples(model: "PreTrainedModel", batches: Sequence[Batch], tokens: np.ndarray) -> Iterator[Samples]:
    for batch in batches:
        offsets, classes = samples_of(batch, tokens)
        if len(offsets):
            states = states_at(layer_states(model, batch), offsets)
            yield Samples(states, classes, partial(_predictions, model, states[-1], tokens))


@torch.no_grad()
def _predictions(model: "PreTrainedModel", states: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    class_tokens = torch.from_numpy(tokens).to(model.device)
    chunks = torch.from_numpy(states).to(model.device).split(max_predictions(model))
    return torch.cat([logits(model, chunk)[:, class_tokens].argmax(dim=1) for chunk in chunks]).cpu().numpy()
