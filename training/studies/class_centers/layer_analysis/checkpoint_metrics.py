"""Metrics of each layer at all stored checkpoints of a run."""

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from bitcipher.errors import BitcipherError
from training.data.examples import Batch
from training.data.token_streams import TokenDataset
from training.evaluation.probes.data import TaskData
from training.loop.checkpoint_folders import latest_checkpoint, list_checkpoints
from training.loop.distributed import World
from training.loop.evaluation import evaluation_ids
from training.loop.file_names import CONFIG
from training.loop.training_run import TrainingRun
from training.runs.pretraining_run import make_training_run
from training.runs.recipe import Recipe
from training.runs.run_files import PretrainingConfig
from training.studies.class_centers.layer_analysis.checkpoint_models import checkpoint_models
from training.studies.class_centers.layer_analysis.labeled_words import label_words, word_accuracies
from training.studies.class_centers.layer_analysis.records import LayerMetric, to_records
from training.studies.class_centers.layer_analysis.token_classes import frequent_tokens
from training.studies.class_centers.layer_analysis.token_metrics import token_metrics

SEQUENCES_PER_BATCH = 16


def measure_layers(
    folder: Path,
    n_classes: int,
    n_sequences: int,
    task: TaskData | None = None,
    begin: Callable[[int], Callable[[int], None]] = lambda checkpoints: lambda step: None,
) -> list[LayerMetric]:
    """Measure each layer of the initial model and of each checkpoint of a run, on the same examples.

    Args:
        folder: directory of the run; its text must still be at its original path.
        n_classes: number of classes, which are the most frequent target tokens.
        n_sequences: maximum number of training sequences, and of validation sequences. The first training sequences of
            the run are used.
        task: labeled words for linear probes, or None for no probes.
        begin: called with the number of models; the function that it returns is called with the step of each finished
            model.

    Raises:
        BitcipherError: if the folder is not a run, has no checkpoint, its text is missing, its model is a
            discriminator or an encoder of sentences, or it reads pairs of texts.
    """
    latest_checkpoint(folder)
    checkpoints = list_checkpoints(folder)
    recipe, run = _load_run(folder)
    if recipe.model.generator_layers is not None:
        raise BitcipherError(
            f"The run {folder} trains a discriminator, which predicts no tokens; give a run of another objective than "
            f"{recipe.objective['name']}."
        )
    if recipe.model.projector_size is not None:
        raise BitcipherError(
            f"The run {folder} trains an encoder of sentences, which predicts no tokens; evaluate it with `bitcipher "
            "study class-centers sentences`."
        )
    if recipe.text_pairs is not None:
        raise BitcipherError(f"The run {folder} reads pairs of texts, not sequences of a text; give a run on a text.")
    examples: Any = run.examples  # `TextExamples`
    positions = np.arange(min(n_sequences, _training_size(recipe, run)))
    train = list(_batches(run.examples.training_batch, positions))
    held_out = list(_batches(run.examples.validation_batch, evaluation_ids(run.examples.validation_size, n_sequences)))
    tokens = frequent_tokens(train, n_classes, examples.special_tokens)
    words = None
    if task is not None:
        inputs = examples.text.tokenizer, recipe.model.architecture, recipe.model.max_position_embeddings
        words = label_words(task.train, task, *inputs), label_words(task.test, task, *inputs)
    advance = begin(1 + len(checkpoints))
    device = World.current("auto").device
    records = []
    for step, model in checkpoint_models(run.model, checkpoints, folder / CONFIG):
        model = model.to(device).eval()
        metrics = token_metrics(model, train, held_out, tokens)
        if task is not None and words is not None:
            metrics["held out", f"{task.name}_accuracy"] = word_accuracies(model, *words)
        records += to_records(step, metrics)
        advance(step)
    return records


def _load_run(folder: Path) -> tuple[Recipe, TrainingRun]:
    """Return the recipe of a run, and the run with its initial model."""
    if not (folder / CONFIG).exists():
        raise BitcipherError(f"{folder} is not a run; give a folder that `bitcipher train` wrote.")
    config = PretrainingConfig.read(str(folder / CONFIG))
    with TemporaryDirectory() as scratch:  # for embedding_init.json
        text = TokenDataset.open(config.text)
        text.check_tokens()
        return config.recipe, make_training_run(config.recipe, text, config.vectors, Path(scratch))


def _training_size(recipe: Recipe, run: TrainingRun) -> int:
    examples: Any = run.examples
    objective: Any = run.objective
    return len(examples.text.train) // objective.text_length(recipe.model.max_position_embeddings)


def _batches(make: Callable[[np.ndarray], Batch], numbers: np.ndarray) -> Iterator[Batch]:
    for start in range(0, len(numbers), SEQUENCES_PER_BATCH):
        yield make(numbers[start : start + SEQUENCES_PER_BATCH])
