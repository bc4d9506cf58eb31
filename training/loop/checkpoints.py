"""Checkpoints: folders named after their step and published atomically. Nothing in them is pickled.

checkpoints/00000500/   config.json, model.safetensors    the model, as transformers opens it
                        tokenizer.json, tokenizer_config.json   the tokenizer, as transformers opens it
                        optimizer.safetensors             AdamW's state
                        state.json                        `TrainingState`
                        files.json                        digests of these files, and of the metrics so far
                        generator/, discriminator/, encoder/   parts of models that transformers has no class for

A run whose latest checkpoint is damaged returns to an older one.
"""

import os
import shutil
from collections.abc import Iterable, Mapping
from itertools import product
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from bitcipher.errors import BitcipherError, first_line
from bitcipher.files import json_files, object_store, storage
from bitcipher.files.file_digests import FileDigest, write_digests
from training.loop.checkpoint_folders import (
    STATE,
    TrainingState,
    check_checkpoint,
    partial_folder,
    remove_checkpoint,
    remove_old_checkpoints,
)
from training.loop.distributed import gather, shard_like
from training.loop.file_names import CHECKPOINTS
from training.loop.metrics_logger import check_metrics_of
from training.loop.optimizer import load_optimizer_state, optimizer_state
from training.models.checkpoint import load_model, save_model
from training.models.model_folder import MODEL_CONFIG, OPTIMIZER


class CheckpointTensors(NamedTuple):
    """Tensors of a checkpoint."""

    weights: dict[str, torch.Tensor]
    """Weights of the model by their names."""
    optimizer: dict[str, torch.Tensor]
    """State of the optimizer, from `optimizer_state`."""


def collect_tensors(model: torch.nn.Module, optimizer: torch.optim.Optimizer, *, keep: bool) -> CheckpointTensors:
    """Return the tensors of a checkpoint, or none if `keep` is false. All workers call it if layers are sharded."""
    return CheckpointTensors(
        gather(model.state_dict(), keep=keep), gather(optimizer_state(model, optimizer), keep=keep)
    )


def save_checkpoint(
    folder: Path,
    model: torch.nn.Module,
    tensors: CheckpointTensors,
    state: TrainingState,
    metrics: FileDigest,
    limit: int | None,
    files: Mapping[str, bytes],
) -> Path:
    """Write the checkpoint of `state.step`, then remove older ones; see `superseded_checkpoints`.

    Args:
        folder: folder of the run.
        model: model.
        tensors: its weights and the state of its optimizer.
        state: progress of the run.
        metrics: digest of the run's metrics up to this step.
        limit: number of the latest checkpoints to keep; None keeps all.
        files: further files of the checkpoint by their names.

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
            save_model(model, str(unfinished), tensors.weights)
            models = [path.parent for path in unfinished.rglob(MODEL_CONFIG)]
            for model_folder, (name, content) in product(models, files.items()):
                storage.write_bytes(str(model_folder / name), content)
            _save_optimizer(unfinished / OPTIMIZER, tensors.optimizer)
            json_files.write(str(unfinished / STATE), state.to_dict())
            written = [path for path in unfinished.rglob("*") if path.is_file()]
            names = [path.relative_to(unfinished).as_posix() for path in written]
            write_digests(unfinished, names, metrics, state.step)
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
    load_weights(str(checkpoint), model)
    try:
        load_optimizer_state(model, optimizer, load_file(checkpoint / OPTIMIZER))
    except (OSError, SafetensorError, ValueError) as error:
        raise _damaged(checkpoint / OPTIMIZER, first_line(error)) from None
    return state


def load_weights(checkpoint: str, model: torch.nn.Module) -> None:
    """Restore the weights of a model from a checkpoint, given by path or URI.

    Raises:
        BitcipherError: if the checkpoint is missing or damaged, or holds another model.
    """
    weights = load_model(checkpoint).state_dict()
    own = model.state_dict()
    try:
        model.load_state_dict({name: shard_like(weight, own.get(name, weight)) for name, weight in weights.items()})
    except RuntimeError:
        raise BitcipherError(
            f"The model in {checkpoint} is not that of the run; remove this folder to resume from an older checkpoint."
        ) from None


def _damaged(path: Path, reason: str) -> BitcipherError:
    return BitcipherError(f"{path} is missing or damaged ({reason}); remove {path.parent} to resume from an older one.")


def drop_damaged_checkpoints(folder: Path, checkpoints: Iterable[Path]) -> str | None:
    """Read the latest checkpoint of a run; if it is damaged, remove it if an older one is intact.

    A resumed run writes what was removed again, with the same bytes.

    Args:
        folder: folder of the run, which no other job writes to.
        checkpoints: its checkpoints, the latest first; only those up to the first intact one are asked for.

    Returns:
        A sentence on what was removed, or None if nothing was.

    Raises:
        BitcipherError: if all checkpoints are damaged, or the metrics up to them are. Then nothing is removed.
    """
    damaged: list[tuple[Path, BitcipherError]] = []
    for checkpoint in checkpoints:
        try:
            check_checkpoint(checkpoint)
            check_metrics_of(folder, checkpoint)
        except BitcipherError as error:
            damaged.append((checkpoint, error))
            continue
        break
    else:
        if damaged:
            raise damaged[0][1]
        return None
    for each, _ in damaged:
        remove_checkpoint(each)
    return f"{damaged[0][1]} It was removed, and the run resumes from {checkpoint}." if damaged else None
