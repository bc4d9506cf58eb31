"""Checkpoints: folders named after their step and published atomically. Nothing in them is pickled.

checkpoints/00000500/   config.json, model.safetensors    the model, as transformers opens it
                        optimizer.safetensors             AdamW's state
                        state.json                        `TrainingState`
                        files.json                        digests of these files, and of the metrics so far
"""

import os
import shutil
from pathlib import Path

import torch
from pydantic import Field
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from bitcipher import json_files, object_store
from bitcipher.errors import BitcipherError, first_line
from bitcipher.records import Record
from training.file_digests import FileDigest, write_digests
from training.loop.checkpoint_folders import CHECKPOINTS, check_checkpoint, partial_folder, remove_old_checkpoints
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
    last_validation_loss: float | None = None
    """Validation loss of the latest evaluation."""


def save_checkpoint(
    folder: Path,
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    state: TrainingState,
    metrics: FileDigest,
    limit: int | None,
) -> Path:
    """Write the checkpoint of `state.step`, then remove all but the latest `limit` checkpoints (None: keep all).

    Args:
        folder: folder of the run.
        model: model.
        optimizer: its optimizer.
        state: progress of the run.
        metrics: digest of the run's metrics up to this step.
        limit: see above.

    Returns:
        The folder of the checkpoint.

    Raises:
        BitcipherError: if the checkpoint cannot be written.
    """
    target = folder / CHECKPOINTS / f"{state.step:08d}"
    unfinished = partial_folder(target)
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        with object_store.translating_errors("write", str(target), is_local=True):
            unfinished.mkdir(parents=True)
            save_model(model, str(unfinished))
            _save_optimizer(unfinished / OPTIMIZER, optimizer_state(model, optimizer))
            json_files.write(str(unfinished / STATE), state.to_dict())
            write_digests(unfinished, [path.name for path in unfinished.iterdir()], metrics, state.step)
            os.replace(unfinished, target)
            remove_old_checkpoints(folder, limit)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return target


def _save_optimizer(path: Path, tensors: dict[str, torch.Tensor]) -> None:
    try:
        save_file(tensors, path)
    except SafetensorError as error:  # such as a full disk
        raise BitcipherError(f"Cannot write {path}: {first_line(error)}.") from None
    with open(path, "rb") as stream:
        os.fsync(stream.fileno())


def load_checkpoint(checkpoint: Path, model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> TrainingState:
    """Restore the weights of a model and the state of its optimizer from a checkpoint, and return the progress.

    Raises:
        BitcipherError: if a file of the checkpoint is missing or damaged. Then the model and the optimizer may have
            a part of its values.
    """
    check_checkpoint(checkpoint)
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
