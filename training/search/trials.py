"""Trials of a study on Ray Tune."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bitcipher.errors import BitcipherError, last_line
from bitcipher.files import storage
from pipelines.runtime.ray_cluster import ray_cluster
from training.runs.calls import Config, call, describe_failure, writing_stop_file
from training.runs.ray_storage import ray_storage

# Maximum number of restarts after the process of a trial has died. Each restart resumes from the latest checkpoint.
MAX_TRIAL_FAILURES = 3


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
        call(self.function, self.config)


def run_tune_trials(
    trials: Sequence[Trial],
    max_concurrent_trials: int,
    gpus: float,
    ray_folder: str,
    stop_file: str,
    on_end: Callable[[str], None],
) -> None:
    """Run trials on Ray Tune, with one CPU per trial.

    After an error of a trial, or SIGTERM, the running trials save a checkpoint and stop, and no other starts.

    Args:
        trials: trials in the order in which they start.
        max_concurrent_trials: maximum number of trials at the same time.
        gpus: fraction of a GPU per trial.
        ray_folder: path or URI of a folder for Ray Tune's own files, shared by all nodes.
        stop_file: file that asks trials to stop.
        on_end: called with the name of each trial that has ended.

    Raises:
        BitcipherError: if Ray cannot be reached, a trial raises an error, or its process dies too often.
        SystemExit: after SIGTERM.
    """
    # Ray Tune reads these variables when it starts. Without them, it would handle Ctrl-C itself and print tables.
    os.environ.setdefault("RAY_AIR_NEW_OUTPUT", "0")
    os.environ.setdefault("TUNE_DISABLE_SIGINT_HANDLER", "1")
    os.environ.setdefault("TUNE_DISABLE_AUTO_CALLBACK_LOGGERS", "1")
    with ray_cluster(num_cpus=max(max_concurrent_trials, os.cpu_count() or 1)), writing_stop_file(stop_file):
        import ray

        # Without a GPU, Ray Tune would wait forever. Only on a cluster that already runs can GPU nodes still be added.
        if "RAY_ADDRESS" not in os.environ and ray.cluster_resources().get("GPU", 0) < gpus:
            raise BitcipherError("`--gpus` needs a GPU, but Ray found none on this machine; leave out `--gpus`.")
        _tune(trials, max_concurrent_trials, gpus, ray_folder, stop_file, on_end)


def _tune(
    trials: Sequence[Trial],
    max_concurrent_trials: int,
    gpus: float,
    ray_folder: str,
    stop_file: str,
    on_end: Callable[[str], None],
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
                on_end(trial.config["trial"]["name"])

        def __reduce__(self) -> tuple[Any, ...]:
            # Ray Tune pickles its callbacks, and a progress bar cannot be pickled.
            return tune.Callback, ()

    tuner = tune.Tuner(
        tune.with_resources(_call_and_return_error, {"cpu": 1, "gpu": gpus}),
        param_space={
            "stop_file": stop_file,
            "trial": tune.grid_search(
                [{"name": trial.name, "function": list(trial.function), "config": trial.config} for trial in trials]
            ),
        },
        # Processes are reused, because importing torch takes longer than the shortest trials.
        tune_config=tune.TuneConfig(max_concurrent_trials=max_concurrent_trials, reuse_actors=True),
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


def _call_and_return_error(values: Config) -> dict[str, Any]:
    """Call the function of a trial of Ray Tune, and return its error, if there is one, as a metric for the driver.

    Ray Tune would call it again after an exception.
    """
    trial, stop_file = values["trial"], values["stop_file"]
    if storage.exists(stop_file):
        return {"has_ended": False, "error": None}
    try:
        call(trial["function"], trial["config"])
    except SystemExit:  # after a checkpoint, because the run was asked to stop
        return {"has_ended": False, "error": None}
    except BitcipherError as error:
        message = str(error)
    except Exception as error:
        message = f"The trial {trial['name']} failed ({describe_failure(error)}); see Ray's logs for details."
    else:
        return {"has_ended": True, "error": None}
    storage.write_bytes(stop_file, b"")
    return {"has_ended": False, "error": message}
