"""Checkpoints: folders named after their step, which appear when they are whole. Nothing in them is pickled.

checkpoints/00000500/   config.json, model.safetensors    what transformers opens
                        optimizer.safetensors             what AdamW remembers
                        state.json                        steps and seconds so far, and whether the table is frozen
"""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from bitcipher import storage
from bitcipher.errors import BitcipherError
from training.loop.metrics_logger import METRICS
from training.loop.optimizer import remember, remembered
from training.models import load_model, save_model

CHECKPOINTS = "checkpoints"
OPTIMIZER = "optimizer.safetensors"
STATE = "state.json"


def save_checkpoint(
    folder: Path, model: torch.nn.Module, optimizer: torch.optim.Optimizer, state: dict[str, Any], keep: int
) -> None:
    """Write a checkpoint of `state["step"]`, then remove all but the newest `keep` (0: none)."""
    target = folder / CHECKPOINTS / f"{state['step']:08d}"
    unfinished = target.with_suffix(".partial")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    save_model(model, str(unfinished))
    save_file(remembered(model, optimizer), unfinished / OPTIMIZER)
    (unfinished / STATE).write_text(json.dumps(state), "utf-8")
    for path in unfinished.iterdir():
        with open(path, "rb") as stream:
            os.fsync(stream.fileno())
    shutil.rmtree(target, ignore_errors=True)
    os.replace(unfinished, target)
    for old in _checkpoints(folder)[:-keep] if keep else []:
        shutil.rmtree(old, ignore_errors=True)


def newest_checkpoint(folder: Path) -> Path | None:
    """The folder of the newest checkpoint of a run, if it has one."""
    found = _checkpoints(folder)
    return found[-1] if found else None


def checkpoint_of(folder: Path) -> Path:
    """The newest checkpoint of a run.

    Raises:
        BitcipherError: if there is none.
    """
    newest = newest_checkpoint(folder)
    if newest is None:
        raise BitcipherError(f"{folder} is no run with a checkpoint: name the folder that `bitcipher train` wrote.")
    return newest


def model_folder(folder: str) -> str:
    """Where a model's files are: of a run in its newest checkpoint, else in the folder itself.

    Args:
        folder: of a run, or path or URI of a folder of transformers.

    Raises:
        BitcipherError: if it is a run that has no checkpoint yet.
    """
    path = storage.local_path(folder)
    is_run = path is not None and Path(path, METRICS).exists()
    return str(checkpoint_of(Path(path))) if is_run else folder


def read_state(checkpoint: Path) -> dict[str, Any]:
    """What `save_checkpoint` was given as state."""
    return json.loads((checkpoint / STATE).read_text("utf-8"))


def load_weights(checkpoint: Path, model: torch.nn.Module) -> None:
    """Put the weights of a checkpoint into a model of the same shape."""
    model.load_state_dict(load_model(str(checkpoint)).state_dict())


def load_optimizer(checkpoint: Path, model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Let the optimizer remember what it remembered."""
    remember(model, optimizer, load_file(checkpoint / OPTIMIZER))


def _checkpoints(folder: Path) -> list[Path]:
    inside = sorted((folder / CHECKPOINTS).glob("*")) if (folder / CHECKPOINTS).is_dir() else []
    return [path for path in inside if path.name.isdigit()]
