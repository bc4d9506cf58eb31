"""Folders of the checkpoints of a run, and the progress that they hold.

This module is imported to check options, so it does not import torch.
"""

import os
import re
import shutil
from pathlib import Path

from pydantic import Field

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, storage
from bitcipher.files.file_digests import DIGESTS, FileDigest, FolderDigests, check_digest
from bitcipher.files.records import Record
from training.loop.file_names import CHECKPOINTS, METRICS

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
    best_step: int | None = Field(None, ge=1)
    """With early stopping: step of the evaluation with the lowest validation loss so far."""
    best_validation_loss: float | None = None
    """With early stopping: lowest validation loss so far."""
    early_stopping_patience_counter: int = Field(0, ge=0)
    """With early stopping: number of evaluations since the validation loss improved."""
    loss_scale: float | None = Field(None, gt=0)
    """With float16: scale of the loss."""
    loss_scale_steps: int = Field(0, ge=0)
    """With float16: number of steps since the scale has changed."""

    @property
    def model_step(self) -> int:
        """Step of the checkpoint that is the model of the run: the best with early stopping, else the latest."""
        return self.step if self.best_step is None else self.best_step


# Folders of checkpoints, and those that are being written or removed.
_STEP = re.compile(r"\d{8,}")
_PARTIAL = re.compile(r"\d{8,}\.partial")


def find_latest_checkpoint(folder: Path) -> Path | None:
    """Return the folder of the latest checkpoint of a run, or None if it has none."""
    found = list_checkpoints(folder)
    return found[-1] if found else None


def latest_checkpoint(folder: Path) -> Path:
    """Return the folder of the latest checkpoint of a run.

    Raises:
        BitcipherError: if the run has no checkpoint.
    """
    latest = find_latest_checkpoint(folder)
    if latest is None:
        raise _no_checkpoint(folder)
    return latest


def _no_checkpoint(folder: object) -> BitcipherError:
    return BitcipherError(f"{folder} is not a run with a checkpoint; give a folder that `bitcipher train` wrote.")


def find_checkpoint(folder: str, step: int | None = None) -> str:
    """Return the path or URI of a checkpoint of a run.

    Args:
        folder: path or URI of the run.
        step: step of the checkpoint; by default that of the model of the run: the best with early stopping, else the
            latest.

    Raises:
        BitcipherError: if the run has no such checkpoint, or a file of it is missing or damaged.
    """
    state = read_latest_state(folder)
    if state is None:
        raise _no_checkpoint(folder)
    name = f"{state.model_step if step is None else step:08d}"
    if name not in checkpoint_names(folder):
        if step is None:
            raise BitcipherError(
                f"{folder} lacks the checkpoint of step {state.model_step:,}, which is its model: restore it from a "
                f"copy, or remove {folder} to train again."
            )
        raise BitcipherError(f"{folder} has no checkpoint of step {step:,}; its latest is step {state.step:,}.")
    checkpoint = storage.join(folder, CHECKPOINTS, name)
    read_checkpoint_digests(checkpoint)  # each checkpoint of a run has them
    return checkpoint


def resolve_model_folder(folder: str, step: int | None = None) -> str:
    """Return the folder of a model's files: the checkpoint of a run (see `find_checkpoint`), else the folder itself.

    Args:
        folder: path or URI of a run or of a transformers model.
        step: step of the checkpoint of a run; by default that of its model.

    Raises:
        BitcipherError: if the folder is a run without this checkpoint, or a file of the checkpoint is missing or
            damaged, or a step is given for a folder that is no run.
    """
    if storage.exists(storage.join(folder, METRICS)):
        return find_checkpoint(storage.absolute(folder), step)
    if step is not None:
        raise _no_checkpoint(folder)
    return folder


def checkpoint_names(folder: str) -> list[str]:
    """Return the names of the complete checkpoints of a run, given by path or URI, by step.

    Raises:
        BitcipherError: if the store fails.
    """
    path = storage.local_path(folder)
    if path is not None:
        return [checkpoint.name for checkpoint in list_checkpoints(Path(path))]
    files = [name.split("/") for name in storage.list_files(storage.join(folder, CHECKPOINTS))]
    # In a store, digests are written last and removed first.
    names = [checkpoint for checkpoint, *rest in files if rest == [DIGESTS] and is_checkpoint_name(checkpoint)]
    return sorted(names, key=int)


def read_latest_state(folder: str) -> TrainingState | None:
    """Return the progress in the latest checkpoint of a run, given by path or URI, or None if it has no checkpoint.

    Raises:
        BitcipherError: if the file of the progress is missing or damaged, or that of another step, or the store fails.
    """
    names = checkpoint_names(folder)
    if not names:
        return None
    checkpoint = storage.join(folder, CHECKPOINTS, names[-1])
    state = TrainingState.read(storage.join(checkpoint, STATE))
    _check_step(checkpoint, state.step)
    return state


def superseded_checkpoints(folder: str, limit: int | None) -> list[str]:
    """Return the names of the checkpoints of a run that are not needed any more, by step.

    The latest `limit` are kept, and with early stopping the best of each of them, so that a run whose latest checkpoint
    is damaged resumes with the best of the one before.

    Args:
        folder: path or URI of the run.
        limit: number of the latest checkpoints to keep; None keeps all.

    Raises:
        BitcipherError: if the store fails.
    """
    if limit is None:
        return []
    names = checkpoint_names(folder)
    latest = names[-limit:]
    best = {_find_best(folder, name) for name in latest}
    return [name for name in names if name not in latest and name not in best]


def _find_best(folder: str, name: str) -> str | None:
    """Return the name of the checkpoint that was the best at the step of another one."""
    uri = storage.join(folder, CHECKPOINTS, name, STATE)
    content = storage.read_bytes(uri)
    try:
        best_step = TrainingState.parse(json_files.parse(content or b"", uri), uri).best_step
    except BitcipherError:  # a damaged checkpoint is reported when it is used
        return None
    return None if best_step is None else f"{best_step:08d}"


def is_checkpoint_name(name: str) -> bool:
    """Return whether a name is that of the folder of a checkpoint."""
    return _STEP.fullmatch(name) is not None


def list_checkpoints(folder: Path) -> list[Path]:
    """Return the folders of the checkpoints of a run, by step."""
    paths = (folder / CHECKPOINTS).glob("*") if (folder / CHECKPOINTS).is_dir() else []
    return sorted((path for path in paths if is_checkpoint_name(path.name)), key=lambda path: int(path.name))


def partial_folder(checkpoint: Path) -> Path:
    """Return the folder that a checkpoint has while it is written or removed."""
    return checkpoint.with_name(checkpoint.name + ".partial")


def remove_old_checkpoints(folder: Path, limit: int | None) -> None:
    """Remove superseded checkpoints (see `superseded_checkpoints`), and what killed jobs left of checkpoints."""
    for name in superseded_checkpoints(str(folder), limit):
        remove_checkpoint(folder / CHECKPOINTS / name)
    if (folder / CHECKPOINTS).is_dir():
        for path in (folder / CHECKPOINTS).iterdir():
            if _PARTIAL.fullmatch(path.name):
                shutil.rmtree(path, ignore_errors=True)


def remove_checkpoint(checkpoint: Path) -> None:
    """Remove a checkpoint. It is renamed first, so that an incomplete folder is never taken for a checkpoint."""
    partial = partial_folder(checkpoint)
    shutil.rmtree(partial, ignore_errors=True)
    os.replace(checkpoint, partial)
    shutil.rmtree(partial, ignore_errors=True)


def read_checkpoint_digests(checkpoint: Path | str) -> FolderDigests:
    """Return the digests of the files of a checkpoint, and of the metrics up to its step.

    Args:
        checkpoint: path or URI of the checkpoint.

    Raises:
        BitcipherError: if the file of digests is missing or damaged, or that of another step.
    """
    folder = str(checkpoint)
    try:
        digests = FolderDigests.read(storage.join(folder, DIGESTS))
    except BitcipherError as error:
        raise BitcipherError(f"{str(error).rstrip('.')}. {_remove(folder)}") from None
    _check_step(folder, digests.step)
    return digests


def find_move(checkpoint: str, step: int | None) -> str | None:
    """Return a sentence if the files in the folder of a checkpoint are of another step than its name says, else None.

    Args:
        checkpoint: path or URI of the checkpoint.
        step: step in one of its files.
    """
    if step == int(checkpoint.rpartition("/")[2]):
        return None
    return f"{checkpoint} holds the checkpoint of step {step}, so it was moved."


def _check_step(checkpoint: str, step: int | None) -> None:
    if sentence := find_move(checkpoint, step):
        raise BitcipherError(f"{sentence} {_remove(checkpoint)}")


def _remove(checkpoint: str) -> str:
    return f"Remove {checkpoint} to continue from an older checkpoint."


def check_checkpoint(checkpoint: Path) -> None:
    """Read all files of a checkpoint, and compare them with their digests.

    Raises:
        BitcipherError: if a file of the checkpoint is missing or damaged.
    """
    for name, digest in read_checkpoint_digests(checkpoint).files.items():
        check_digest(str(checkpoint / name), digest, f"remove {checkpoint} to resume from an older checkpoint")


def find_metrics_digest(folder: Path) -> FileDigest | None:
    """Return the digest of the metrics up to the latest checkpoint of a run, or None if it has no checkpoint.

    Raises:
        BitcipherError: if the digests of the checkpoint are missing or damaged.
    """
    while latest := find_latest_checkpoint(folder):
        try:
            return read_checkpoint_digests(latest).metrics
        except BitcipherError:
            # A job that trains can have replaced the checkpoint in the meantime.
            if find_latest_checkpoint(folder) == latest:
                raise
    return None
