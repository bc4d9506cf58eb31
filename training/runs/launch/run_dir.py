"""Folder of a training run: creation, comparison with its options and inputs, and training in it."""

import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, storage
from bitcipher.files.file_digests import DIGESTS
from bitcipher.redaction import redact_values
from pipelines.runtime.progress import StageProgress
from pipelines.store.job_folder import FolderKind
from pipelines.store.lease import Lease
from pipelines.store.recorded_inputs import GivenInputs, RecordedInputs
from pipelines.store.removal import list_names
from training.data.transformers_tokenizer import TOKENIZER_CONFIG
from training.evaluation.text_pairs.scores import PREDICTIONS as PAIR_PREDICTIONS
from training.evaluation.text_pairs.scores import SCORES
from training.loop.checkpoint_folders import checkpoint_names
from training.loop.evaluation_progress import EVALUATING
from training.loop.file_names import CHECKPOINTS, EMBEDDING_INIT, ENDED, INPUTS, METRICS, RECIPE, TOKENIZER
from training.loop.options import TRACKERS
from training.loop.stop_request import RUN_LEASE, STOP
from training.loop.trackers.base import TRACKER_IDS
from training.runs.launch.metrics_follower import follow_metrics
from training.runs.workers import run_workers
from training.tasks.finetuning.run_files import PREDICTIONS, TASK_INFO

# Names of Ray Train's own files, which exist while a run trains.
_RAY_STORAGE = re.compile(r"ray-[0-9a-f]{8}")
# Files that a killed job was writing (see `bitcipher.files.storage.writing`).
_UNFINISHED = re.compile(r".+\.[0-9a-f]{32}" + re.escape(storage.UNFINISHED))
# Files of a run, besides its config. Those of a run that was killed before its first metrics belong to inputs and
# options that can be others now.
_RUN_FILES = (
    *(
        RECIPE,
        TOKENIZER,
        TOKENIZER_CONFIG,
        DIGESTS,
        EMBEDDING_INIT,
        TASK_INFO,
        SCORES,
        PAIR_PREDICTIONS,
        TRACKER_IDS,
        CHECKPOINTS,
    ),
    *TRACKERS,
)
# Files that say that a run has been trained.
_RESULTS = (METRICS, ENDED, PREDICTIONS)

ADVICE = "choose another folder, or remove it first"


def default_prepared(folder: str) -> str:
    """Return the path or URI of the folder `prepared` next to a run.

    Raises:
        BitcipherError: if the run is a whole bucket.
    """
    parent, _, name = folder.rstrip("/").rpartition("/")
    if parent.endswith(":/") or not name:
        raise BitcipherError(f"{folder} has no folder next to it; choose a folder in it for the run, such as run-1.")
    return f"{parent}/prepared"


def run_folder(name: str) -> FolderKind:
    """Return the kind of the folders of runs, or of studies, that have a config file of some name."""
    return FolderKind(
        f"a run with {name}", is_published=lambda folder: storage.exists(storage.join(folder, name)), lease=RUN_LEASE
    )


@contextmanager
def leasing_run_dir(folder: str, name: str) -> Iterator[Lease]:
    """Hold the lease of the folder of a run or a study, so that no other job writes to it.

    The lease of a killed job expires as that of a build: at once on the same machine, else after 20 seconds.

    Raises:
        BitcipherError: if another job is running in the folder, or the folder holds other files.
    """
    run_folder(name).check_usable(folder)
    with Lease(folder, RUN_LEASE) as lease:
        storage.remove(storage.join(folder, STOP))  # left by a killed job, whose workers it asked to stop
        yield lease


def has_results(folder: str) -> bool:
    """Return whether a folder holds a run with metrics or scores."""
    return any(storage.exists(storage.join(folder, name)) for name in _RESULTS)


def check_run(
    folder: str,
    name: str,
    config: dict[str, Any],
    inputs: GivenInputs,
    progress: StageProgress,
    *,
    is_finished: bool,
) -> Literal["new", "same", "inputs gone"]:
    """Compare a run with the options and inputs of a command. Nothing is written.

    The config can still change while the run has no results, so that mistakes in its options can be corrected.

    Args:
        folder: path or URI of the run.
        name: name of the config file in it.
        config: values that the config file must have, stored without credentials. Other values in the file are ignored.
        inputs: inputs of the run.
        progress: receives a sentence on a run whose inputs were not recorded.
        is_finished: whether the run has ended, so that its result can be used although inputs are gone.

    Returns:
        `new` if the folder has no results yet; `same` if the run can go on, or has ended; `inputs gone` if it has
        ended, and inputs are gone.

    Raises:
        BitcipherError: if the folder holds another run, a run of other inputs, or other files, or if inputs of a run
            that has not ended are gone.
    """
    run_folder(name).check_usable(folder)
    if not has_results(folder):
        inputs.record()  # raises for an input that is missing
        return "new"
    stored, config = json_files.read(storage.join(folder, name)), redact_values(config)
    differing = [name for key in config for name in _list_differences(stored.get(key), config[key])]
    if differing:
        raise BitcipherError(f"{folder} holds a run with other options ({', '.join(differing)}): {ADVICE}.")
    recorded = stored.get(INPUTS)
    if recorded is None:
        progress.say(
            f"{folder} was made by a version of bitcipher that did not record inputs, so changes of its inputs cannot "
            "be noticed."
        )
        return "same"
    owner = storage.join(folder, name)
    is_same = inputs.check_same(RecordedInputs.parse(recorded, owner), folder, ADVICE, is_finished=is_finished)
    return "same" if is_same else "inputs gone"


def prepare_run_dir(folder: str, name: str, config: dict[str, Any], inputs: GivenInputs) -> dict[str, Any]:
    """Write the config of a run that `check_run` has compared, and return the config with its inputs.

    A folder without results loses the files that a killed job left. In a run whose inputs were not recorded, they are
    not recorded either.

    Args:
        folder: path or URI of the run.
        name: name of the config file in it.
        config: values of the config file, stored without credentials.
        inputs: inputs of the run.
    """
    path = storage.join(folder, name)
    if has_results(folder):
        recorded = json_files.read(path).get(INPUTS)
    else:
        for leftover in list_names(folder) & set(_RUN_FILES):
            storage.remove(storage.join(folder, leftover))
        recorded = inputs.record().to_dict()
    config = {**config, INPUTS: recorded}
    json_files.write(path, redact_values(config))
    return config


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
