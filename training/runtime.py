"""Execution of training functions: in this process, on workers of Ray Train, or as trials of Ray Tune.

Only this module of `training` imports Ray.
"""

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from bitcipher.errors import BitcipherError, first_line, last_line
from pipelines.runtime.ray_cluster import ray_cluster

# Maximum number of restarts after a worker has died. Each restart resumes from the latest checkpoint.
MAX_FAILURES = 10

# Maximum number of restarts after the process of a trial has died. Each restart resumes from the latest checkpoint.
MAX_TRIAL_FAILURES = 3

Config = dict[str, Any]


@dataclass(frozen=True)
class Trial:
    """Call of a function with a config, in this process or in a process of Ray Tune."""

    name: str
    """Name for progress bars and error messages."""
    function: tuple[str, str]
    """Module and name of the function, so that any process can import it."""
    config: Config
    """Argument of the function: values that JSON can represent."""

    def run(self) -> None:
        """Call the function in this process."""
        _call(self.function, self.config)


def run_workers(
    function: Callable[[Config], None], config: Config, workers: int, device: str, ray_folder: Path
) -> None:
    """Call a function in this process if `workers` is 0, else on that many workers of Ray Train.

    Ray Train creates torch's process group first: NCCL between GPUs, Gloo between CPUs. If a worker dies, all workers
    are restarted, and the function is called again with the same config.

    Args:
        function: function of a module, so that workers can import it.
        config: argument of the function: values that JSON can represent.
        workers: number of Ray workers; 0 calls the function in this process.
        device: `cpu`, `cuda` (one GPU per worker), or `auto` (`cuda` if the cluster has enough GPUs, else `cpu`).
        ray_folder: folder for Ray's own files, shared by all nodes; it is removed at the end.

    Raises:
        BitcipherError: if Ray cannot be reached, workers die too often, or the function raises a BitcipherError.
    """
    if workers == 0:
        function(config)
        return
    # Ray reads this variable when it is imported.
    os.environ.setdefault("RAY_TRAIN_V2_ENABLED", "1")
    with ray_cluster(num_cpus=max(workers, os.cpu_count() or 1)):
        import ray

        try:
            gpus = ray.cluster_resources().get("GPU", 0) >= workers if device == "auto" else device == "cuda"
            _fit(function, config, workers, gpus, ray_folder)
        finally:
            shutil.rmtree(ray_folder, ignore_errors=True)


def _fit(function: Callable[[Config], None], config: Config, workers: int, gpus: bool, ray_folder: Path) -> None:
    from ray.train import FailureConfig, RunConfig, ScalingConfig, TrainingFailedError
    from ray.train.torch import TorchTrainer

    error_file = ray_folder / "error"
    trainer = TorchTrainer(
        _call_and_store_error,
        # The function is given by name, so that Ray's controller does not import its module.
        train_loop_config={
            "function": [function.__module__, function.__name__],
            "config": config,
            "error_file": str(error_file),
        },
        scaling_config=ScalingConfig(num_workers=workers, use_gpu=gpus),
        # The loop writes its own checkpoints, so Ray stores none.
        run_config=RunConfig(storage_path=str(ray_folder), failure_config=FailureConfig(max_failures=MAX_FAILURES)),
    )
    try:
        trainer.fit()
    except TrainingFailedError as error:
        raise BitcipherError(
            f"Workers failed more than {MAX_FAILURES} times ({first_line(error)}); see Ray's logs for the cause."
        ) from None
    if error_file.exists():
        raise BitcipherError(error_file.read_text("utf-8"))


def _call_and_store_error(values: Config) -> None:
    """Call the function on a worker of Ray Train, and store a user error in a file for the driver."""
    message = _catch_user_error(values["function"], values["config"])
    if message is not None:
        Path(values["error_file"]).write_text(message, "utf-8")


def _catch_user_error(function: Sequence[str], config: Config) -> str | None:
    """Call a function, given by module and name. Return the message of a user error, or None if there is none.

    The driver raises the error again. Ray would retry after an exception.
    """
    try:
        _call(function, config)
    except BitcipherError as error:
        return str(error)
    return None


def _call(function: Sequence[str], config: Config) -> None:
    module, name = function
    getattr(import_module(module), name)(config)


def run_tune_trials(
    trials: Sequence[Trial], max_concurrent_trials: int, gpus: float, ray_folder: Path, on_end: Callable[[str], None]
) -> None:
    """Run trials on Ray Tune, with one CPU per trial.

    Args:
        trials: trials in the order in which they start.
        max_concurrent_trials: maximum number of trials at the same time.
        gpus: fraction of a GPU per trial.
        ray_folder: folder for Ray Tune's own files, shared by all nodes.
        on_end: called with the name of each trial that has ended.

    Raises:
        BitcipherError: if Ray cannot be reached, a trial raises a BitcipherError, or its process fails too often.
    """
    # Ray Tune reads these variables when it starts. Without them, it would handle Ctrl-C itself and print tables.
    os.environ.setdefault("RAY_AIR_NEW_OUTPUT", "0")
    os.environ.setdefault("TUNE_DISABLE_SIGINT_HANDLER", "1")
    os.environ.setdefault("TUNE_DISABLE_AUTO_CALLBACK_LOGGERS", "1")
    with ray_cluster(num_cpus=max(max_concurrent_trials, os.cpu_count() or 1)):
        import ray

        # Without a GPU, Ray Tune would wait forever. Only on a cluster that already runs can GPU nodes still be added.
        if "RAY_ADDRESS" not in os.environ and ray.cluster_resources().get("GPU", 0) < gpus:
            raise BitcipherError("`--gpus` needs a GPU, but Ray found none on this machine; leave out `--gpus`.")
        _tune(trials, max_concurrent_trials, gpus, ray_folder, on_end)


def _tune(
    trials: Sequence[Trial], max_concurrent_trials: int, gpus: float, ray_folder: Path, on_end: Callable[[str], None]
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
            on_end(trial.config["trial"]["name"])

        def __reduce__(self) -> tuple[Any, ...]:
            # Ray Tune pickles its callbacks, and a progress bar cannot be pickled.
            return tune.Callback, ()

    tuner = tune.Tuner(
        tune.with_resources(_call_and_return_error, {"cpu": 1, "gpu": gpus}),
        param_space={
            "trial": tune.grid_search(
                [{"name": trial.name, "function": list(trial.function), "config": trial.config} for trial in trials]
            )
        },
        # Processes are reused, because importing torch takes longer than the shortest trials.
        tune_config=tune.TuneConfig(max_concurrent_trials=max_concurrent_trials, reuse_actors=True),
        run_config=tune.RunConfig(
            storage_path=str(ray_folder),
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
                f"The trial {trial.name} failed {MAX_TRIAL_FAILURES + 1} times ({last_line(result.error)}); "
                "see Ray's logs for details."
            )
        if message := (result.metrics or {}).get("error"):
            raise BitcipherError(message)


def _call_and_return_error(values: Config) -> dict[str, str | None]:
    """Call the function of a trial of Ray Tune, and return a user error as a metric for the driver."""
    trial = values["trial"]
    return {"error": _catch_user_error(trial["function"], trial["config"])}
