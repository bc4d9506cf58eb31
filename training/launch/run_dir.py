"""The folder of a training run: whose it is, and workers at work in it."""

import json
import shutil
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bitcipher import storage
from bitcipher.errors import BitcipherError
from pipelines.runtime.progress import StageProgress
from training.launch.metrics_follower import following
from training.loop import METRICS
from training.runtime import run_workers

# Ray's notes of a run, while it is there.
NOTES = "ray-"


def local_folder(uri: str) -> Path:
    """The path of a folder of a run.

    Raises:
        BitcipherError: if it is not on a file system: shards are mapped into memory, and lines are added to logs.
    """
    path = storage.local_path(storage.absolute(uri))
    if path is None:
        raise BitcipherError(f"Training takes a folder on a file system that all workers see, and {uri} is none.")
    return Path(path)


def claim(folder: Path, name: str, asked: dict[str, Any]) -> None:
    """Make the folder of a run, or find in it the same run, stopped.

    A run that has trained nothing yet may still be changed: its options may have been a mistake.

    Args:
        folder: of the run.
        name: of the file in it that tells what is run.
        asked: what that file must tell.

    Raises:
        BitcipherError: if the folder holds another run, or something else.
    """
    told = folder / name
    if folder.exists() and any(folder.iterdir()) and not told.exists():
        raise BitcipherError(f"{folder} is not empty, and has no {name} of such a run: choose another folder.")
    if (folder / METRICS).exists():
        known = storage.read_json(str(told))
        if any(known[key] != value for key, value in asked.items()):
            raise BitcipherError(f"{folder} holds a run of other options: choose another folder, or remove it first.")
    folder.mkdir(parents=True, exist_ok=True)
    storage.write_json(str(told), asked)


def work_in(
    folder: Path,
    name: str,
    function: Callable[[dict[str, Any]], None],
    config: dict[str, Any],
    steps: Callable[[], int],
    workers: int,
    device: str,
    progress: StageProgress,
) -> None:
    """Let workers train, or go on, in a folder that was claimed.

    Args:
        folder: of the run.
        name: of the file in it that tells what is run.
        function: see `run_workers`.
        config: what the function is called with, without the folder.
        steps: tells how many steps the run has, once it has begun.
        workers: of Ray; 0 trains in this process.
        device: see `run_workers`.
        progress: where to show how far it is.
    """
    for notes in folder.glob(f"{NOTES}*"):  # of a driver that was killed
        shutil.rmtree(notes, ignore_errors=True)
    config = json.loads(json.dumps({**config, "folder": str(folder)}))
    storage.write_json(str(folder / name), config)
    with following(folder, steps, progress):
        run_workers(function, config, workers, device, folder / f"{NOTES}{uuid.uuid4().hex[:8]}")
