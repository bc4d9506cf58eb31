"""Execution of one trial, in this process or in a process of Ray Tune."""

import math
from typing import Any

from bitcipher.files import json_files, storage
from bitcipher.files.records import Record
from training.loop.errors import DivergenceError
from training.loop.file_names import CHECKPOINTS, CONFIG, ENDED
from training.loop.metrics_logger import read_metrics
from training.loop.run_store import copying_run
from training.runs.pretraining_run import evaluate_run, run_pretraining
from training.runs.recipe import Recipe
from training.studies.downscaling.sweep.early_stopping import stop_reason
from training.tasks.finetuning.finetuning_run import run_finetuning

_ALL_SEQUENCES = 2**62  # more than any test split has


class TrialEnd(Record):
    """End of a trial; stored as `ended.json` at the end of pre-training, or of fine-tuning that diverged."""

    test_loss: float | None = None
    """Loss on the test split, in nats."""
    stopped: str | None = None
    """Reason for an early stop, as a sentence; None if the trial was not stopped."""


class _Stopped(Exception):
    """Raised to stop a run early."""


def pretrain_trial(config: dict[str, Any]) -> None:
    """Pre-train a model, or resume its run; then compute the test loss and write `ended.json`.

    Args:
        config: values of a `PretrainingConfig`, and `test`, the folder of token shards whose validation split is the
            test split.
    """
    folder = config["folder"]
    loop = config["recipe"]["loop"]

    def check_progress(step: int, note: str) -> None:
        # The stop condition can change only after an evaluation.
        if step % loop["eval_steps"] == 0 and (reason := stop_reason(read_run_metrics(folder), loop["max_steps"])):
            raise _Stopped(reason)

    try:
        run_pretraining({name: value for name, value in config.items() if name != "test"}, check_progress)
    except (DivergenceError, _Stopped) as stopped:
        _write_end(folder, TrialEnd(stopped=str(stopped)))
        return
    loss = _test_loss(config, folder)
    if math.isfinite(loss):
        _write_end(folder, TrialEnd(test_loss=loss))
    else:
        _write_end(folder, TrialEnd(stopped="The final test loss is not finite."))


def finetune_trial(config: dict[str, Any]) -> None:
    """Fine-tune a model, or resume its run, and write `ended.json` if it diverges; see `finetuning_run`.

    The fine-tuned weights are removed at the end, because there are dozens of fine-tuning runs per model, and only
    their scores are used.
    """
    folder = config["folder"]
    try:
        run_finetuning(config)
    except DivergenceError as diverged:
        _write_end(folder, TrialEnd(stopped=str(diverged)))
    storage.remove(storage.join(folder, CHECKPOINTS))


def read_run_metrics(folder: str) -> list[dict[str, Any]]:
    """Return the metrics of a run; see `read_metrics`.

    Args:
        folder: path or URI of the run.
    """
    with copying_run(folder) as copy:
        return read_metrics(copy)


def _write_end(folder: str, end: TrialEnd) -> None:
    json_files.write(storage.join(folder, ENDED), end.to_dict())


def _test_loss(config: dict[str, Any], folder: str) -> float:
    """Return the mean loss of all test sequences, with fixed masks."""
    recipe = Recipe.parse(config["recipe"], storage.join(folder, CONFIG))
    return evaluate_run(recipe, config["test"], folder, _ALL_SEQUENCES)["validation_loss"]
