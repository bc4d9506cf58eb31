"""Trials as many at once as the devices hold: by Ray Tune, or one after another in this process."""

import os
import shutil
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from bitcipher.errors import BitcipherError, first_line

# How often a trial is begun again after its process has died: each time it goes on from its newest checkpoint.
MAX_FAILURES = 3

# Ray Tune's notes on trials, while they run.
_NOTES = "ray-tune-"


@dataclass(frozen=True)
class Trial:
    """A function to be called, and with what."""

    name: str
    function: tuple[str, str]
    """Its module and its name, so that any process can import it."""
    config: dict[str, Any]
    """What JSON can hold."""


@dataclass(frozen=True)
class TrialResources:
    """Where trials run."""

    max_concurrent_trials: int
    """Trials of Ray Tune at once at most; 0 runs them in this process, one after another."""
    gpus: float = 0.0
    """Share of a GPU that each takes: 0.25 for four on one; trials at once without a share see no GPU."""

    def __post_init__(self) -> None:
        """Refuse a share that nothing is made of."""
        if not 0 <= self.gpus <= 1:
            raise BitcipherError(f"A trial takes a share of a GPU from 0 to 1, not {self.gpus:g}.")
        if self.gpus and not self.max_concurrent_trials:
            raise BitcipherError("Only trials at the same time share a GPU: set --max-concurrent-trials.")


def run_trials(trials: Sequence[Trial], places: TrialResources, notes: Path, ended: Callable[[str], None]) -> None:
    """Run trials; each has written what it found when it ends.

    Args:
        trials: in the order in which they are begun.
        places: how many at once, and on what.
        notes: a folder for the notes that Ray Tune takes, which all nodes see. They have a folder of their own in it,
            which is removed in the end: Ray pickles some of them.
        ended: called with the name of each when it has ended.

    Raises:
        BitcipherError: for a mistake that a trial tells, or one that fails again and again.
    """
    if places.max_concurrent_trials == 0:
        for trial in trials:
            call(trial.function, trial.config)
            ended(trial.name)
    elif trials:
        for left in notes.glob(f"{_NOTES}*"):  # of a driver that was killed
            shutil.rmtree(left, ignore_errors=True)
        own = notes / f"{_NOTES}{uuid.uuid4().hex[:8]}"
        try:
            _tune(trials, places, own, ended)
        finally:
            shutil.rmtree(own, ignore_errors=True)


def call(function: tuple[str, str], config: dict[str, Any]) -> None:
    """Call a function by its module and name."""
    module, name = function
    getattr(import_module(module), name)(config)


def _tune(trials: Sequence[Trial], places: TrialResources, notes: Path, ended: Callable[[str], None]) -> None:
    # Tune reads these when it begins. It would otherwise take a Ctrl-C for itself, and print tables of its own.
    os.environ.setdefault("RAY_AIR_NEW_OUTPUT", "0")
    os.environ.setdefault("TUNE_DISABLE_SIGINT_HANDLER", "1")
    os.environ.setdefault("TUNE_DISABLE_AUTO_CALLBACK_LOGGERS", "1")
    import ray
    from ray import tune
    from ray.tune.progress_reporter import TrialProgressCallback

    # Tune would wait for ever; a cluster that is joined may still grow.
    if "RAY_ADDRESS" not in os.environ and ray.cluster_resources().get("GPU", 0) < places.gpus:
        raise BitcipherError("There is no GPU here to share: leave out --gpus.")

    class Follow(TrialProgressCallback):
        """In the place of Tune's own, which would print a line on each trial."""

        def on_trial_result(self, iteration: int, trials: list[Any], trial: Any, result: Any, **info: Any) -> None:
            pass

        def on_trial_error(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
            pass

        def on_trial_complete(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
            ended(trial.config["trial"]["name"])

        def __reduce__(self) -> tuple[Any, ...]:
            # Tune writes its callbacks down, and a progress bar cannot be written down.
            return tune.Callback, ()

    tuner = tune.Tuner(
        tune.with_resources(_tell_mistakes, {"cpu": 1, "gpu": places.gpus}),
        param_space={
            "trial": tune.grid_search(
                [{"name": each.name, "function": list(each.function), "config": each.config} for each in trials]
            )
        },
        # Their processes are used again: importing torch takes longer than the shortest trials.
        tune_config=tune.TuneConfig(max_concurrent_trials=places.max_concurrent_trials, reuse_actors=True),
        run_config=tune.RunConfig(
            storage_path=str(notes),
            failure_config=tune.FailureConfig(max_failures=MAX_FAILURES),
            callbacks=[Follow()],
            verbose=0,
        ),
    )
    # Results are in the order of the grid; one of a process that died at once does not know its config.
    for trial, result in zip(trials, tuner.fit(), strict=True):
        if result.error is not None:
            raise BitcipherError(
                f"The trial {trial.name} failed {MAX_FAILURES + 1} times ({_cause(result.error)}): look for more in "
                "Ray's logs."
            )
        if mistake := result.metrics.get("mistake"):
            raise BitcipherError(mistake)


def _cause(error: Exception) -> str:
    """What was raised in the trial stands last: Ray's errors are tracebacks."""
    return first_line("\n".join(reversed(str(error).strip().splitlines())))


def _tell_mistakes(config: dict[str, Any]) -> dict[str, str | None]:
    """A user's mistake is told in the driver's own words, and not tried again."""
    trial = config["trial"]
    try:
        call(tuple(trial["function"]), trial["config"])
    except BitcipherError as error:
        return {"mistake": str(error)}
    return {"mistake": None}
