"""Training of a trial, and how it ended. torch is imported when a trial trains, in the process in which it trains."""

import math
from collections.abc import Callable
from typing import Any

from bitcipher.files import json_files, storage
from bitcipher.files.records import Record
from training.loop.errors import DivergenceError
from training.loop.file_names import CHECKPOINTS, ENDED
from training.runs.recipe import Recipe


class TrialEnd(Record):
    """End of a trial; stored as `ended.json` at the end of pre-training, or of a fine-tuning that diverged."""

    validation_loss: float | None = None
    """Loss that ranks the trial, in nats; None if it diverged."""
    perplexity: float | None = None
    """Its perplexity; None if the trial diverged, or the objective has none."""
    diverged: str | None = None
    """Sentence on the divergence, or on another reason to stop the training early; None if there was none."""


def pretrain_trial(
    config: dict[str, Any],
    scored_recipe: Recipe,
    scored_text: str,
    eval_sequences: int | None = None,
    advance: Callable[[int, str], None] = lambda step, note: None,
    *,
    keeps_checkpoints: bool = True,
) -> None:
    """Pre-train a model, or resume its run; then score it, and write `ended.json`.

    Args:
        config: values of a `PretrainingConfig`.
        scored_recipe: recipe whose objective computes the loss.
        scored_text: folder of the token shards with the validation split that the loss is computed on.
        eval_sequences: maximum number of sequences of that split; by default that of the recipe.
        advance: see `run_pretraining`; it stops the training by raising a `DivergenceError`.
        keeps_checkpoints: whether the weights are kept at the end. There can be many trials.
    """
    from training.runs.pretraining_run import evaluate_run, run_pretraining

    folder = config["folder"]
    try:
        run_pretraining(config, advance)
        metrics = evaluate_run(scored_recipe, scored_text, folder, eval_sequences)
        if not math.isfinite(metrics["validation_loss"]):
            raise DivergenceError("The final loss is not finite.")
        end = TrialEnd(validation_loss=metrics["validation_loss"], perplexity=metrics.get("perplexity"))
    except DivergenceError as diverged:
        end = TrialEnd(diverged=str(diverged))
    json_files.write(storage.join(folder, ENDED), end.to_dict())
    if not keeps_checkpoints:
        storage.remove(storage.join(folder, CHECKPOINTS))


def finetune_trial(config: dict[str, Any]) -> None:
    """Fine-tune a model, or resume its run, and remove its weights, because only scores are used.

    Args:
        config: values of a `FinetuningConfig`.
    """
    from training.tasks.finetuning.finetuning_run import run_finetuning

    folder = config["folder"]
    try:
        run_finetuning(config)
    except DivergenceError as diverged:
        json_files.write(storage.join(folder, ENDED), TrialEnd(diverged=str(diverged)).to_dict())
    storage.remove(storage.join(folder, CHECKPOINTS))
