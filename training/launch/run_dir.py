"""Folder of a training run: creation, checks against another run, and training in it."""

import shutil
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bitcipher import storage
from bitcipher.errors import BitcipherError
from bitcipher.redaction import redact_values
from pipelines.runtime.progress import StageProgress
from training.launch.metrics_follower import follow_metrics
from training.loop import METRICS
from training.runtime import run_workers

# Prefix of Ray Train's own files, which exist while a run trains.
RAY_STORAGE = "ray-"


def local_folder(uri: str) -> Path:
    """Return the local path of a folder.

    Raises:
        BitcipherError: if the folder is not on a file system. Object stores support neither the memory-mapping of token
            shards nor appending to logs.
    """
    path = storage.local_path(storage.absolute(uri))
    if path is None:
        raise BitcipherError(f"Training needs a folder on a file system that all workers share, got {uri}.")
    return Path(path)


def prepare_run_dir(folder: Path, name: str, config: dict[str, Any]) -> None:
    """Create the folder of a run, or check that it holds a run with the same config.

    The config can still change while the run has no metrics, so that mistakes in its options can be corrected.

    Args:
        folder: folder of the run.
        name: name of the config file in it.
        config: values that the config file must have, stored without credentials. Other values in the file are ignored.

    Raises:
        BitcipherError: if the folder holds another run, or other files.
    """
    path = folder / name
    config = redact_values(config)
    if folder.exists() and any(folder.iterdir()) and not path.exists():
        raise BitcipherError(f"{folder} is not empty and has no {name}; choose another folder.")
    if (folder / METRICS).exists():
        stored = storage.read_json(str(path))
        if any(stored.get(key) != value for key, value in config.items()):
            raise BitcipherError(f"{folder} holds a run with other options; choose another folder, or remove it first.")
    folder.mkdir(parents=True, exist_ok=True)
    storage.write_json(str(path), config)


def launch(
    folder: Path,
    name: str,
    function: Callable[[dict[str, Any]], None],
    config: dict[str, Any],
    max_steps: Callable[[], int],
    n_workers: int,
    device: str,
    progress: StageProgress,
) -> None:
    """Train, or resume, in a folder that `prepare_run_dir` prepared.

    Args:
        folder: folder of the run.
        name: name of the config file in it.
        function: see `run_workers`.
        config: plain values that the function is called with, except for the folder, which is added here.
        max_steps: see `follow_metrics`.
        n_workers: number of Ray workers; 0 trains in this process.
        device: see `run_workers`.
        progress: progress bars.
    """
    for leftover in folder.glob(RAY_STORAGE + "[0-9a-f]" * 8):  # left by a killed driver
        shutil.rmtree(leftover, ignore_errors=True)
    config = {**config, "folder": str(folder)}
    storage.write_json(str(folder / name), redact_values(config))
    with follow_metrics(folder, max_steps, progress):
        run_workers(function, config, n_workers, device, folder / f"{RAY_STORAGE}{uuid.uuid4().hex[:8]}")
