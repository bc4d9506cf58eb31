"""Execution of trials: sequentially in this process, or concurrently on Ray Tune."""

import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from pipelines.runtime.progress import StageProgress
from pipelines.store.removal import list_names
from training.loop.file_names import ENDED
from training.loop.stop_request import STOP
from training.runs.launch.metrics_follower import watch_metrics
from training.search.trials import Trial, run_tune_trials
from training.tasks.finetuning.run_files import PREDICTIONS

# Names of folders with Ray Tune's own files, which exist while trials run.
_RAY_STORAGE = re.compile(r"ray-tune-[0-9a-f]{8}")


@dataclass(frozen=True)
class TrialResources:
    """Resources of trials.

    Raises:
        BitcipherError: if the fraction of a GPU is invalid.
    """

    max_concurrent_trials: int
    """Maximum number of concurrent trials on Ray Tune; 0 runs them sequentially in this process."""
    gpus: float = 0.0
    """Fraction of a GPU per trial, such as 0.25 for four trials on one GPU; with 0, concurrent trials use no GPU."""

    def __post_init__(self) -> None:
        """Check the fraction of a GPU."""
        if not 0 <= self.gpus <= 1:
            raise BitcipherError(f"`--gpus` must be between 0 and 1, got {self.gpus:g}.")
        if self.gpus and not self.max_concurrent_trials:
            raise BitcipherError("`--gpus` needs concurrent trials; set `--max-concurrent-trials` too.")


def run_trials(
    trials: Sequence[Trial],
    resources: TrialResources,
    ray_parent: str,
    on_end: Callable[[str], None],
    on_metrics: Callable[[str, Mapping[str, Any]], None] = lambda name, latest: None,
) -> None:
    """Run trials, sequentially in this process or concurrently on Ray Tune. Each trial writes its own results.

    Args:
        trials: trials in the order in which they start.
        resources: number of concurrent trials, and their GPUs.
        ray_parent: path or URI of a folder, shared by all nodes, for a temporary subfolder with Ray Tune's own files.
            The subfolder is removed at the end, because Ray pickles some of the files.
        on_end: called with the name of each trial that has ended.
        on_metrics: called with the name of a trial and the latest value of each of its metrics while it runs in this
            process.

    Raises:
        BitcipherError: if a trial raises an error, or its process dies too often.
    """
    if resources.max_concurrent_trials == 0:
        for trial in trials:
            with watch_metrics(trial.config["folder"], partial(on_metrics, trial.name)):
                trial.run()
            on_end(trial.name)
    elif trials:
        for stale in filter(_RAY_STORAGE.fullmatch, list_names(ray_parent)):  # left by a killed driver
            storage.remove(storage.join(ray_parent, stale))
        ray_folder = storage.join(ray_parent, f"ray-tune-{uuid.uuid4().hex[:8]}")
        stop_file = storage.join(ray_parent, STOP)
        try:
            run_tune_trials(trials, resources.max_concurrent_trials, resources.gpus, ray_folder, stop_file, on_end)
        finally:
            storage.remove(ray_folder)


def run_stage(
    trials: Sequence[Trial], stage: str, resources: TrialResources, out: str, progress: StageProgress
) -> None:
    """Run those trials of a stage that have not ended.

    The progress bar counts trials. Beside it stands the step of the trial that runs in this process, or the name of the
    trial that ended last on Ray Tune.

    Args:
        trials: trials whose configs have the `folder` of their runs.
        stage: name of the progress bar.
        resources: see `run_trials`.
        out: path or URI of the folder of all trials, whose lease the caller holds.
        progress: progress bars.

    Raises:
        BitcipherError: see `run_trials`.
    """
    if not trials:
        return
    waiting = [trial for trial in trials if not has_ended(trial.config["folder"])]
    bar = progress.begin(stage, len(trials))
    progress.advance(bar, len(trials) - len(waiting), f"of {len(trials):,} trials")

    def show_step(name: str, latest: Mapping[str, Any]) -> None:
        # Losses would not fit beside long names in a terminal of 80 columns.
        if isinstance(step := latest.get("step"), int):
            progress.advance(bar, 0, f"{name}  step {step:,}")

    run_trials(waiting, resources, out, lambda name: progress.advance(bar, 1, name), show_step)


def has_ended(folder: str) -> bool:
    """Return whether the trial with this folder has finished or was stopped."""
    return any(storage.exists(storage.join(folder, name)) for name in (ENDED, PREDICTIONS))
