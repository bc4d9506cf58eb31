"""Execution of one trial, in this process or in a process of Ray Tune."""

import math
import shutil
from pathlib import Path
from typing import Any

from bitcipher import storage
from bitcipher.records import Record
from training.data import TokenDataset
from training.finetune import PREDICTIONS, finetune
from training.loop import World, read_metrics, resolve_model_folder
from training.loop.checkpoints import CHECKPOINTS
from training.loop.evaluation import evaluate
from training.models import load_model
from training.pretrain import CONFIG, make_training_run, pretrain
from training.recipe import Recipe
from training.sweep.early_stopping import stop_reason
from training.tasks.base import Diverged

# Written at the end of pre-training, and by fine-tuning that was stopped.
ENDED = "ended.json"
_WHOLE_TEST = 2**62


class TrialEnd(Record):
    """End of a trial; stored as `ended.json`."""

    test_loss: float | None = None
    """Loss on the test split, in nats."""
    stopped: str | None = None
    """Reason for an early stop, as a sentence."""


class _Stopped(Exception):
    """Raised to stop a run early."""


def pretrain_trial(config: dict[str, Any]) -> None:
    """Pre-train a model, or resume; then evaluate the test loss and write `ended.json`.

    Args:
        config: config of `training.pretrain.pretrain`, and `test`: the folder of the test split's tokens.
    """
    folder = Path(config["folder"])
    loop = config["recipe"]["loop"]

    def look(step: int, note: str) -> None:
        # The stop condition can change only after an evaluation.
        if step % loop["eval_steps"] == 0 and (reason := stop_reason(read_metrics(folder), loop["max_steps"])):
            raise _Stopped(reason)

    try:
        pretrain({name: value for name, value in config.items() if name != "test"}, look)
    except _Stopped as stopped:
        _end(folder, None, str(stopped))
        return
    loss = _test_loss(config, folder)
    if math.isfinite(loss):
        _end(folder, loss, None)
    else:
        _end(folder, None, "The final test loss is not finite.")


def finetune_trial(config: dict[str, Any]) -> None:
    """Fine-tune a model, or resume; see `training.finetune.finetune`. A run that diverges writes `ended.json`.

    Its weights are not stored: there are dozens of such runs per model, and only their scores are used.
    """
    folder = Path(config["folder"])
    try:
        finetune(config)
    except Diverged as diverged:
        storage.write_json(str(folder / ENDED), TrialEnd(stopped=str(diverged)).to_dict())
    shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)


def has_ended(folder: Path) -> bool:
    """Return whether a trial has finished or was stopped."""
    return (folder / ENDED).exists() or (folder / PREDICTIONS).exists()


def _end(folder: Path, test_loss: float | None, stopped: str | None) -> None:
    storage.write_json(str(folder / ENDED), TrialEnd(test_loss=test_loss, stopped=stopped).to_dict())


def _test_loss(config: dict[str, Any], folder: Path) -> float:
    """Return the mean loss of all test sequences, with fixed masks."""
    recipe = Recipe.parse(config["recipe"], str(folder / CONFIG))
    run = make_training_run(recipe, TokenDataset.open(config["test"]), None, folder)
    world = World.current(recipe.loop.device)
    model = load_model(resolve_model_folder(str(folder))).to(world.device)
    options = recipe.loop.copy_with(eval_sequences=_WHOLE_TEST)
    return evaluate(model, run.objective, run.examples, options, world)["validation_loss"]
