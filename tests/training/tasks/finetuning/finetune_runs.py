"""Tiny fine-tuning runs."""

import json
from pathlib import Path

from tiny_runs import merged

from training.tasks.finetuning.finetuning_run import run_finetuning
from training.tasks.finetuning.options import make_finetune_options

LOOP = {"learning_rate": 3e-3, "batch_size": 16, "eval_steps": 40, "logging_steps": 5, "device": "cpu"}


def config_of(folder: Path, model: Path, task: str, data: Path, **changes) -> dict:
    """Return the config of a run in a new folder."""
    folder.mkdir(parents=True, exist_ok=True)
    values = {"model": str(model), "task": task, "data": str(data), "loop": LOOP}
    options = make_finetune_options(merged(values, changes))
    return {"options": options.to_dict(), "folder": str(folder)}


def finetuned(folder: Path, model: Path, task: str, data: Path, **changes) -> Path:
    """Fine-tune, and return the folder of the run."""
    run_finetuning(config_of(folder, model, task, data, **changes))
    return folder


def read(path: Path) -> dict:
    return json.loads(path.read_text())
