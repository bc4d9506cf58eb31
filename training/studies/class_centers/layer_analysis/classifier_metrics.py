"""Metrics of the layers of a fine-tuned classifier of sentences, at all stored checkpoints of its run."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
import torch

from bitcipher.errors import BitcipherError
from pipelines.tokenizers.tokenizer_json import load_tokenizer
from training.loop.checkpoint_folders import list_checkpoints
from training.loop.distributed import World
from training.loop.evaluation import evaluation_ids
from training.studies.class_centers.layer_analysis.center_metrics import HELD_OUT, TRAIN, Samples, center_metrics
from training.studies.class_centers.layer_analysis.checkpoint_models import checkpoint_models
from training.studies.class_centers.layer_analysis.records import LayerMetric, to_records
from training.tasks.base import Features
from training.tasks.finetuning.examples import select_rows
from training.tasks.finetuning.finetuning_run import build_run_model, make_encoder
from training.tasks.finetuning.head_states import head_states
from training.tasks.finetuning.run_files import CONFIG, FinetuningConfig
from training.tasks.finetuning.task_files import find_tokenizer, read_task

if TYPE_CHECKING:
    from transformers import PreTrainedModel

ROWS_PER_BATCH = 32


def measure_classifier(
    folder: Path, n_rows: int, begin: Callable[[int], Callable[[int], None]] = lambda checkpoints: lambda step: None
) -> list[LayerMetric]:
    """Measure each layer of the initial model and of each checkpoint of a fine-tuning run, on the same rows.

    A sample is the hidden state that the head reads: of an encoder that of the first token, of the other models that of
    the last one. Its class is its label.

    Args:
        folder: directory of the run; the files of its task and its pre-trained model must still be there.
        n_rows: maximum number of training rows, and of validation rows, which are a fixed sample.
        begin: called with the number of models; the function that it returns is called with the step of each finished
            model.

    Raises:
        BitcipherError: if the run has no classes of sentences, or files are missing.
    """
    options = FinetuningConfig.read(str(folder / CONFIG)).options
    task = read_task(options.task, options.data, options.vocabulary)
    if task.kind != "classification":
        raise BitcipherError(f"{task.name} has no classes of sentences; give a run of another task, such as cola.")
    tokenizer = load_tokenizer(find_tokenizer(options.model))
    with TemporaryDirectory() as scratch:  # for embedding_init.json
        initial = build_run_model(options, task, tokenizer, Path(scratch)).model
    encoder = make_encoder(initial.config, tokenizer, options.max_seq_length)
    features = {TRAIN: task.features("train", encoder), HELD_OUT: task.features("validation", encoder)}
    checkpoints = list_checkpoints(folder)
    advance = begin(1 + len(checkpoints))
    device = World.current("auto").device
    records = []
    for step, model in checkpoint_models(initial, checkpoints, folder / CONFIG):
        model = model.to(device).eval()
        samples = {part: partial(_samples, model, rows, n_rows) for part, rows in features.items()}
        records += to_records(step, center_metrics(samples, len(task.labels)))
        advance(step)
    return records


def _samples(model: "PreTrainedModel", features: Features, n_rows: int) -> Iterator[Samples]:
    ids = evaluation_ids(len(features), n_rows)
    for start in range(0, len(ids), ROWS_PER_BATCH):
        batch = select_rows(features, ids[start : start + ROWS_PER_BATCH])
        states, predicted = _states_and_predictions(model, batch)
        yield Samples(states, batch["labels"], lambda predicted=predicted: predicted)


@torch.no_grad()
def _states_and_predictions(model: "PreTrainedModel", batch: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the states [layers, B, H] of each row at the token that the head reads, and the predicted classes [B]."""
    tensors = {name: torch.from_numpy(values).to(model.device) for name, values in batch.items()}
    states, logits = head_states(model, tensors)
    return states.cpu().numpy(), logits.argmax(1).cpu().numpy()
