"""Pre-training of one trial, which ends early if it makes no progress."""

from collections.abc import Sequence
from typing import Any

from bitcipher.files import storage
from training.loop.errors import DivergenceError
from training.loop.file_names import CONFIG
from training.loop.metrics_logger import read_metrics
from training.loop.run_store import copying_run
from training.runs.recipe import Recipe
from training.search import trial_runs

# Fraction of the steps after which a run without progress is stopped. By then, even the smallest models have learned
# word frequencies.
_PATIENCE = 0.2
_ALL_SEQUENCES = 2**62  # more than any test split has


def pretrain_trial(config: dict[str, Any], test: str) -> None:
    """Pre-train a model, or resume its run; then compute the loss of all test sequences, with fixed masks.

    Args:
        config: values of a `PretrainingConfig`.
        test: folder of token shards whose validation split is the test split.
    """
    folder = config["folder"]
    recipe = Recipe.parse(config["recipe"], storage.join(folder, CONFIG))

    def check_progress(step: int, note: str) -> None:
        # The stop condition can change only after an evaluation.
        is_evaluated = step % recipe.loop.eval_steps == 0
        if is_evaluated and (reason := stop_reason(read_run_metrics(folder), recipe.loop.max_steps)):
            raise DivergenceError(reason)

    trial_runs.pretrain_trial(config, recipe, test, _ALL_SEQUENCES, check_progress)


def stop_reason(lines: Sequence[dict[str, Any]], steps: int) -> str | None:
    """Return why a run should be stopped, as a sentence, or None if it should continue.

    Args:
        lines: lines of the run's `metrics.jsonl` so far.
        steps: number of steps of the whole run.
    """
    losses = [(line["step"], line["validation_loss"]) for line in lines if "validation_loss" in line]
    if not losses:
        return None
    first, (step, last) = losses[0][1], losses[-1]
    if step >= _PATIENCE * steps and step > 0 and last >= first:
        return f"The loss is {last:.2f} at step {step:,}, not below that of step 0."
    return None


def read_run_metrics(folder: str) -> list[dict[str, Any]]:
    """Return the metrics of a run; see `read_metrics`.

    Args:
        folder: path or URI of the run.
    """
    with copying_run(folder) as copy:
        return read_metrics(copy)
