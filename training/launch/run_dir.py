"""Folder of a training run: creation, checks against another run, and training in it."""

import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from bitcipher import json_files, storage
from bitcipher.errors import BitcipherError
from bitcipher.redaction import redact_values
from pipelines.runtime.progress import StageProgress
from pipelines.store.lease import Lease
from pipelines.store.removal import list_names
from training.launch.metrics_follower import follow_metrics
from training.loop import METRICS, RUN_LEASE
from training.loop.checkpoint_folders import checkpoint_names
from training.loop.evaluation_progress import EVALUATING
from training.loop.stop_request import STOP
from training.runtime import run_workers

# Names of Ray Train's own files, which exist while a run trains.
_RAY_STORAGE = re.compile(r"ray-[0-9a-f]{8}")
# Files that a killed job was writing (see `bitcipher.storage.writing`).
_UNFINISHED = re.compile(r".+\.[0-9a-f]{32}" + re.escape(storage.UNFINISHED))


def default_prepared(folder: str) -> str:
    """Return the path or URI of the folder `prepared` next to a run.

    Raises:
        BitcipherError: if the run is a whole bucket.
    """
    parent, _, name = folder.rstrip("/").rpartition("/")
    if parent.endswith(":/") or not name:
        raise BitcipherError(f"{folder} has no folder next to it; choose a folder in it for the run, such as run-1.")
    return f"{parent}/prepared"


def check_run_dir(folder: str, name: str) -> None:
    """Check that a folder is new, empty, or of a run or a study.

    Args:
        folder: path or URI of the folder.
        name: name of the config file that such a folder has.

    Raises:
        BitcipherError: if the folder holds other files.
    """
    if not storage.exists(storage.join(folder, name)) and list_names(folder) - {RUN_LEASE}:
        raise BitcipherError(f"{folder} is not empty and has no {name}; choose another folder.")


@contextmanager
def leasing_run_dir(folder: str, name: str) -> Iterator[Lease]:
    """Hold the lease of the folder of a run or a study, so that no other job writes to it.

    The lease of a killed job expires as that of a build: at once on the same machine, else after 20 seconds.

    Raises:
        BitcipherError: if another job is running in the folder, or the folder holds other files.
    """
    check_run_dir(folder, name)
    with Lease(folder, RUN_LEASE) as lease:
        storage.remove(storage.join(folder, STOP))  # left by a killed job, whose workers it asked to stop
        yield lease


def prepare_run_dir(folder: str, name: str, config: dict[str, Any]) -> None:
    """Create the folder of a run, or check that it holds a run with the same config.

    The config can still change while the run has no metrics, so that mistakes in its options can be corrected.

    Args:
        folder: path or URI of the run.
        name: name of the config file in it.
        config: values that the config file must have, stored without credentials. Other values in the file are ignored.

    Raises:
        BitcipherError: if the folder holds another run, or other files.
    """
    path = storage.join(folder, name)
    config = redact_values(config)
    check_run_dir(folder, name)
    if storage.exists(storage.join(folder, METRICS)):
        stored = json_files.read(path)
        differing = [name for key in config for name in _list_differences(stored.get(key), config[key])]
        if differing:
            raise BitcipherError(
                f"{folder} holds a run with other options ({', '.join(differing)}): choose another folder, or remove "
                "it first."
            )
    json_files.write(path, config)


def _list_differences(stored: Any, given: Any, name: str = "") -> list[str]:
    """Return the differences of two configs, such as "loop.max_steps 80 → 90"."""
    if stored == given:
        return []
    if not (isinstance(stored, dict) and isinstance(given, dict)):
        return [f"{name} {stored!r} → {given!r}"]
    names = {**stored, **given}
    parts = [_list_differences(stored.get(key), given.get(key), f"{name}.{key}".lstrip(".")) for key in names]
    return [difference for part in parts for difference in part]


def launch(
    folder: str,
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
        folder: path or URI of the run.
        name: name of the config file in it.
        function: see `run_workers`.
        config: plain values that the function is called with, except for the folder, which is added here.
        max_steps: see `follow_metrics`.
        n_workers: number of Ray workers; 0 trains in this process.
        device: see `run_workers`.
        progress: progress bars.
    """
    for leftover in list_names(folder):  # of a killed driver
        if leftover == EVALUATING or _RAY_STORAGE.fullmatch(leftover) or _UNFINISHED.fullmatch(leftover):
            storage.remove(storage.join(folder, leftover))
    config = {**config, "folder": folder}
    json_files.write(storage.join(folder, name), redact_values(config))

    def count_steps() -> int:
        return int(max(checkpoint_names(folder), key=int, default="0"))

    ray_folder, stop_file = storage.join(folder, f"ray-{uuid.uuid4().hex[:8]}"), storage.join(folder, STOP)
    with follow_metrics(folder, max_steps, progress):
        run_workers(function, config, n_workers, device, ray_folder, stop_file, count_steps)
