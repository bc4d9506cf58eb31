"""Fine-tuning runs of seconds."""

import json
from dataclasses import asdict
from pathlib import Path

from tiny_runs import merged

from training.finetune import finetune, make_options

LOOP = {"learning_rate": 3e-3, "batch": 16, "evaluate_every": 40, "log_every": 5, "device": "cpu"}


def config_of(folder: Path, model: Path, task: str, data: Path, **changes) -> dict:
    """What `finetune` takes, for a run in a new folder."""
    folder.mkdir(parents=True, exist_ok=True)
    values = {"model": str(model), "task": task, "data": str(data), "loop": LOOP}
    options = make_options(merged(values, changes))
    return {"options": json.loads(json.dumps(asdict(options))), "folder": str(folder)}


def finetuned(folder: Path, model: Path, task: str, data: Path, **changes) -> Path:
    """The folder of a run."""
    finetune(config_of(folder, model, task, data, **changes))
    return folder


def read(path: Path) -> dict:
    return json.loads(path.read_text())
