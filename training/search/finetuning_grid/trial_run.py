"""One fine-tuning run of a grid."""

from typing import Any

from bitcipher.files import json_files, storage
from training.loop.errors import DivergenceError
from training.loop.file_names import CHECKPOINTS, ENDED
from training.search.finetuning_grid.results import GridTrialEnd
from training.tasks.finetuning.finetuning_run import run_finetuning


def run_trial(config: dict[str, Any]) -> None:
    """Fine-tune a model, or resume its run; then remove its checkpoints, because there can be many trials.

    Args:
        config: values of a `FinetuningConfig`.
    """
    folder = config["folder"]
    try:
        run_finetuning(config)
    except DivergenceError as diverged:
        json_files.write(storage.join(folder, ENDED), GridTrialEnd(diverged=str(diverged)).to_dict())
    storage.remove(storage.join(folder, CHECKPOINTS))
