"""Folder of a training run: creation, checks against another run, and training in it."""

import re
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bitcipher import json_files, storage
from bitcipher.errors import BitcipherError
from bitcipher.redaction import redact_values
from pipelines.runtime.progress import StageProgress
from pipelines.store.lease import Lease
from pipelines.store.removal import list_names
from training.launch.metrics_follower import follow_metrics
from training.loop import METRICS, RUN_LEASE, find_latest_checkpoint
from training.loop.stop_request import STOP
from training.runtime import run_workers

# Prefix of Ray Train's own files, which exist while a run trains.
RAY_STORAGE = "ray-"
# Files that a killed job was writing (see `bitcipher.storage.writing`).
_UNFINISHED = re.compile(r".+\.[0-9a-f]{32}" + re.escape(storage.UNFINISHED))


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


def check_run_dir(folder: Path, name: str) -> None:
    """Check that a folder is new, empty, or of a run or a study.

    Args:
        folder: the folder.
        name: name of the config file that such a folder has.

    Raises:
        BitcipherError: if the folder holds other files.
    """
    if not (folder / name).exists() and list_names(str(folder)) - {RUN_LEASE}:
        raise BitcipherError(f"{folder} is not empty and has no {name}; choose another folder.")


@contextmanager
def leasing_run_dir(folder: Path, name: str) -> Iterator[Lease]:
    """Hold the lease of the folder of a run or a study, so that no other job writes to it.

    The lease of a killed job expires as that of a build: at once on the same machine, else after 20 seconds.

    Raises:
        BitcipherError: if another job is running in the folder, or the folder holds other files.
    """
    check_run_dir(folder, name)
    with Lease(str(folder), RUN_LEASE) as lease:
        (folder / STOP).unlink(missing_ok=True)  # left by a killed job, whose workers it asked to stop
        yield lease


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
    check_run_dir(folder, name)
    if (folder / METRICS).exists():
        stored = json_files.read(str(path))
        if any(stored.get(key) != value for key, value in config.items()):
            raise BitcipherError(f"{folder} holds a run with other options; choose another folder, or remove it first.")
    folder.mkdir(parents=True, exist_ok=True)
    json_files.write(str(path), config)


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
    """Train, or resume, in a folder that `prepare_run_dir` prepared, and whose lease the caller holds.

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
    for path in folder.iterdir():
        if _UNFINISHED.fullmatch(path.name) and not path.is_symlink():
            path.unlink()
    config = {**config, "folder": str(folder)}
    json_files.write(str(folder / name), redact_values(config))

    def count_steps() -> int:
        latest = find_latest_checkpoint(folder)
        return int(latest.name) if latest else 0

    ray_folder = folder / f"{RAY_STORAGE}{uuid.uuid4().hex[:8]}"
    with follow_metrics(folder, max_steps, progress):
        run_workers(function, config, n_workers, device, ray_folder, folder / STOP, count_steps)
