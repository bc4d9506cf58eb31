"""Trials: runs of a search or a study, one after another in this process, or concurrently on Ray Tune.

Ended trials are not repeated, and an interrupted one resumes. This module does not import torch.
"""

import os
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from bitcipher.errors import BitcipherError, last_line
from bitcipher.files import storage
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.ray_cluster import ray_cluster
from pipelines.store.recorded_inputs import GivenInputs
from pipelines.store.removal import list_names
from training.loop.file_names import ENDED
from training.loop.stop_request import STOP
from training.runs.calls import Config, describe_failure, writing_stop_file
from training.runs.launch.metrics_follower import watch_metrics
from training.runs.launch.run_dir import check_run, prepare_run_dir
from training.runs.ray_storage import ray_storage
from training.tasks.finetuning.run_files import PREDICTIONS

# Name of the folder of the runs of a search.
TRIALS = "trials"
# Maximum number of restarts after the process of a trial has died. Each restart resumes from the latest checkpoint.
MAX_TRIAL_FAILURES = 3
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


@dataclass(frozen=True)
class Trial:
    """Run that is ready to train."""

    name: str
    """Name for progress bars and error messages."""
    folder: str
    """Path or URI of the run."""
    train: Callable[[], None]
    """Function that trains, or resumes, and writes the results: one of a module, with its arguments, so that any
    process can call it."""


@dataclass(frozen=True)
class TrialRun:
    """Folder of a trial, and the options and inputs that its run must have."""

    name: str
    folder: str
    """Path or URI of the run."""
    config_name: str
    """Name of the config file in the folder."""
    options: Config
    """Values of the config that determine the run."""
    inputs: GivenInputs

    @property
    def has_ended(self) -> bool:
        """Whether the trial has finished or was stopped."""
        return has_ended(self.folder)

    def check(self, progress: StageProgress) -> None:
        """Compare the options and inputs with those of the run in the folder; see `check_run`."""
        check_run(self.folder, self.config_name, self.options, self.inputs, progress, is_finished=self.has_ended)

    def prepare(self, train: Callable[[Config], None], values: Config | None = None) -> Trial:
        """Write the config, with further values, and return the trial; see `prepare_run_dir`.

        Args:
            train: function that trains, or resumes, a run with this config.
            values: further values of the config, such as the folder of the text.
        """
        config = {**self.options, **(values or {}), "folder": self.folder}
        config = prepare_run_dir(self.folder, self.config_name, config, self.inputs)
        return Trial(self.name, self.folder, partial(train, config))


def has_ended(folder: str) -> bool:
    """Return whether the trial with this folder has finished or was stopped."""
    return any(storage.exists(storage.join(folder, name)) for name in (ENDED, PREDICTIONS))


def run_stage(
    trials: Sequence[Trial], stage: str, resources: TrialResources, out: str, progress: StageProgress
) -> None:
    """Run those trials of a stage that have not ended.

    The progress bar counts trials. Beside it stands the step of the trial that runs in this process, or the name of the
    trial that ended last on Ray Tune.

    Args:
        trials: trials in the order in which they start.
        stage: name of the progress bar.
        resources: see `run_trials`.
        out: path or URI of the folder of all trials, whose lease the caller holds.
        progress: progress bars.

    Raises:
        BitcipherError: see `run_trials`.
    """
    if not trials:
        return
    waiting = [trial for trial in trials if not has_ended(trial.folder)]
    bar = progress.begin(stage, len(trials))
    progress.advance(bar, len(trials) - len(waiting), f"of {len(trials):,} trials")

    def show_step(name: str, latest: Mapping[str, Any]) -> None:
        # Losses would not fit beside long names in a terminal of 80 columns.
        if isinstance(step := latest.get("step"), int):
            progress.advance(bar, 0, f"{name}  step {step:,}")

    run_trials(waiting, resources, out, lambda name: progress.advance(bar, 1, name), show_step)


def run_trials(
    trials: Sequence[Trial],
    resources: TrialResources,
    ray_parent: str,
    on_end: Callable[[str], None],
    on_metrics: Callable[[str, Mapping[str, Any]], None] = lambda name, latest: None,
) -> None:
    """Run trials, sequentially in this process or concurrently on Ray Tune. Each trial writes its own results.

    After an error of a trial on Ray Tune, or SIGTERM, the running trials save a checkpoint and stop, and no other
    starts.

    Args:
        trials: trials in the order in which they start.
        resources: number of concurrent trials with one CPU each, and their GPUs.
        ray_parent: path or URI of a folder, shared by all nodes, for a temporary subfolder with Ray Tune's own files.
            The subfolder is removed at the end, because Ray pickles some of the files.
        on_end: called with the name of each trial that has ended.
        on_metrics: called with the name of a trial and the latest value of each of its metrics while it runs in this
            process.

    Raises:
        BitcipherError: if Ray cannot be reached, a trial raises an error, or its process dies too often.
        SystemExit: after SIGTERM.
    """
    if resources.max_concurrent_trials == 0:
        for trial in trials:
            with watch_metrics(trial.folder, partial(on_metrics, trial.name)):
                trial.train()
            on_end(trial.name)
    elif trials:
        for stale in filter(_RAY_STORAGE.fullmatch, list_names(ray_parent)):  # left by a killed driver
            storage.remove(storage.join(ray_parent, stale))
        ray_folder = storage.join(ray_parent, f"ray-tune-{uuid.uuid4().hex[:8]}")
        try:
            _run_on_ray(trials, resources, ray_folder, storage.join(ray_parent, STOP), on_end)
        finally:
            storage.remove(ray_folder)


def _run_on_ray(
    trials: Sequence[Trial], resources: TrialResources, ray_folder: str, stop_file: str, on_end: Callable[[str], None]
) -> None:
    # Ray Tune reads these variables when it starts. Without them, it would handle Ctrl-C itself and print tables.
    os.environ.setdefault("RAY_AIR_NEW_OUTPUT", "0")
    os.environ.setdefault("TUNE_DISABLE_SIGINT_HANDLER", "1")
    os.environ.setdefault("TUNE_DISABLE_AUTO_CALLBACK_LOGGERS", "1")
    n_cpus = max(resources.max_concurrent_trials, os.cpu_count() or 1)
    with ray_cluster(num_cpus=n_cpus), writing_stop_file(stop_file):
        import ray

        # Without a GPU, Ray Tune would wait forever. Only on a cluster that already runs can GPU nodes still be added.
        if "RAY_ADDRESS" not in os.environ and ray.cluster_resources().get("GPU", 0) < resources.gpus:
            raise BitcipherError("`--gpus` needs a GPU, but Ray found none on this machine; leave out `--gpus`.")
        _tune(trials, resources, ray_folder, stop_file, on_end)


def _tune(
    trials: Sequence[Trial], resources: TrialResources, ray_folder: str, stop_file: str, on_end: Callable[[str], None]
) -> None:
    from ray import tune
    from ray.tune.progress_reporter import TrialProgressCallback

    class ProgressCallback(TrialProgressCallback):
        """Reports finished trials. It replaces Ray Tune's callback, which would print a line per trial."""

        def on_trial_result(self, iteration: int, trials: list[Any], trial: Any, result: Any, **info: Any) -> None:
            pass

        def on_trial_error(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
            pass

        def on_trial_complete(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
            if trial.last_result.get("has_ended"):
                on_end(trial.config["name"])

        def __reduce__(self) -> tuple[Any, ...]:
            # Ray Tune pickles its callbacks, and a progress bar cannot be pickled.
            return tune.Callback, ()

    by_name = {trial.name: trial for trial in trials}

    def train(values: Config) -> dict[str, Any]:
        return _train_and_return_error(by_name[values["name"]], stop_file)

    tuner = tune.Tuner(
        tune.with_resources(train, {"cpu": 1, "gpu": resources.gpus}),
        param_space={"name": tune.grid_search(list(by_name))},
        # Processes are reused, because importing torch takes longer than the shortest trials.
        tune_config=tune.TuneConfig(max_concurrent_trials=resources.max_concurrent_trials, reuse_actors=True),
        run_config=tune.RunConfig(
            **ray_storage(ray_folder),
            failure_config=tune.FailureConfig(max_failures=MAX_TRIAL_FAILURES),
            callbacks=[ProgressCallback()],
            verbose=0,
        ),
    )
    # Results are in the order of the grid. The result of a process that died early has no config.
    results: Any = tuner.fit()
    for trial, result in zip(trials, results, strict=True):
        if result.error is not None:
            raise BitcipherError(
                f"The process of the trial {trial.name} died {MAX_TRIAL_FAILURES + 1} times "
                f"({last_line(result.error)}); see Ray's logs for details."
            )
        if message := (result.metrics or {}).get("error"):
            raise BitcipherError(message)


def _train_and_return_error(trial: Trial, stop_file: str) -> dict[str, Any]:
    """Train in a process of Ray Tune, and return the error, if there is one, as a metric for the driver.

    Ray Tune would train again after an exception.
    """
    if storage.exists(stop_file):
        return {"has_ended": False, "error": None}
    try:
        trial.train()
    except SystemExit:  # after a checkpoint, because the run was asked to stop
        return {"has_ended": False, "error": None}
    except BitcipherError as error:
        message = str(error)
    except Exception as error:
        message = f"The trial {trial.name} failed ({describe_failure(error)}); see Ray's logs for details."
    else:
        return {"has_ended": True, "error": None}
    storage.write_bytes(stop_file, b"")
    return {"has_ended": False, "error": message}
