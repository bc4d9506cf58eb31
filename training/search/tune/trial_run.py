"""Training and score of one trial of a search."""

from typing import Any

from bitcipher.files import json_files, storage
from training.loop.errors import DivergenceError
from training.loop.file_names import CHECKPOINTS, ENDED
from training.runs.pretraining_run import evaluate_run, run_pretraining
from training.runs.recipe import Recipe
from training.search.tune.results import TrialScore


def run_trial(config: dict[str, Any]) -> None:
    """Train a trial, or resume it, and write its score; then remove its checkpoints, because there can be many trials.

    The score is computed by the objective of the recipe of the search. With the objective of the trial, a lower masking
    share would give a lower loss, because fewer masked tokens are easier to predict.

    Args:
        config: values of a `PretrainingConfig`, and `base`, the values of the recipe of the search.
    """
    folder = config["folder"]
    try:
        run_pretraining({name: value for name, value in config.items() if name != "base"})
        metrics = evaluate_run(Recipe.parse(config["base"], "The recipe"), config["text"], folder)
        score = TrialScore(validation_loss=metrics["validation_loss"], perplexity=metrics.get("perplexity"))
    except DivergenceError as diverged:
        score = TrialScore(diverged=str(diverged))
    json_files.write(storage.join(folder, ENDED), score.to_dict())
    storage.remove(storage.join(folder, CHECKPOINTS))
