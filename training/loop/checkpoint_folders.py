"""Folders of the checkpoints of a run. This module is imported to check options, so it does not import torch."""

from pathlib import Path

from bitcipher import storage
from bitcipher.errors import BitcipherError
from training.loop.metrics_logger import METRICS

CHECKPOINTS = "checkpoints"


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
        raise BitcipherError(f"{folder} is not a run with a checkpoint; give a folder that `bitcipher train` wrote.")
    return latest


def resolve_model_folder(folder: str) -> str:
    """Return the folder of a model's files: the latest checkpoint of a run, else the folder itself.

    Args:
        folder: folder of a run, or path or URI of a transformers model.

    Raises:
        BitcipherError: if the folder is a run without a checkpoint.
    """
    path = storage.local_path(folder)
    if path is None or not Path(path, METRICS).exists():
        return folder
    return str(latest_checkpoint(Path(path)))


def list_checkpoints(folder: Path) -> list[Path]:
    """Return the folders of the checkpoints of a run, by step."""
    paths = sorted((folder / CHECKPOINTS).glob("*")) if (folder / CHECKPOINTS).is_dir() else []
    return [path for path in paths if path.name.isdigit()]
