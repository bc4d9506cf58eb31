"""Checkpoints: folders named after their step and published atomically. Nothing in them is pickled.

checkpoints/00000500/   config.json, model.safetensors    the model, as transformers opens it
                        optimizer.safetensors             AdamW's state
                        state.json                        `TrainingState`
"""

import os
import shutil
from pathlib import Path

import torch
from pydantic import Field
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from bitcipher import json_files
from bitcipher.errors import BitcipherError, first_line
from bitcipher.records import Record
from training.loop.checkpoint_folders import CHECKPOINTS, list_checkpoints
from training.loop.optimizer import load_optimizer_state, optimizer_state
from training.models import load_model, save_model

OPTIMIZER = "optimizer.safetensors"
STATE = "state.json"


class TrainingState(Record):
    """Progress of a run, as stored in a checkpoint."""

    step: int = Field(0, ge=0)
    """Number of completed updates."""
    seconds: float = 0.0
    """Time spent on updates, without evaluations and checkpoints."""
    unfrozen_at: int | None = None
    """Step at which the embeddings were unfrozen early, or None."""
    last_validation_loss: float | None = Field(None, allow_inf_nan=True)
    """Validation loss of the latest evaluation; NaN if the run diverged."""


def save_checkpoint(
    folder: Path, model: torch.nn.Module, optimizer: torch.optim.Optimizer, state: TrainingState, limit: int | None
) -> None:
    """Write the checkpoint of `state.step`, then remove all but the latest `limit` checkpoints (None: keep all)."""
    target = folder / CHECKPOINTS / f"{state.step:08d}"
    unfinished = target.with_suffix(".partial")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    save_model(model, str(unfinished))
    save_file(optimizer_state(model, optimizer), unfinished / OPTIMIZER)
    json_files.write(str(unfinished / STATE), state.to_dict())
    for path in unfinished.iterdir():
        with open(path, "rb") as stream:
            os.fsync(stream.fileno())
    shutil.rmtree(target, ignore_errors=True)
    os.replace(unfinished, target)
    for old in list_checkpoints(folder)[:-limit] if limit is not None else []:
        shutil.rmtree(old, ignore_errors=True)


def load_checkpoint(checkpoint: Path, model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> TrainingState:
    """Restore the weights of a model and the state of its optimizer from a checkpoint, and return the progress.

    Raises:
        BitcipherError: if a file of the checkpoint is missing or damaged.
    """
    state = TrainingState.read(str(checkpoint / STATE))
    if state.step != int(checkpoint.name):
        raise _damaged(checkpoint / STATE, f"its step is {state.step:,}")
    weights = load_model(str(checkpoint)).state_dict()
    try:
        model.load_state_dict(weights)
    except RuntimeError:
        raise _damaged(checkpoint, "its model is not that of the run") from None
    try:
        load_optimizer_state(model, optimizer, load_file(checkpoint / OPTIMIZER))
    except (OSError, SafetensorError, ValueError) as error:
        raise _damaged(checkpoint / OPTIMIZER, first_line(error)) from None
    return state


def _damaged(path: Path, reason: str) -> BitcipherError:
    folder = path if path.is_dir() else path.parent
    return BitcipherError(f"{path} is missing or damaged ({reason}); remove {folder} to resume from an older one.")
