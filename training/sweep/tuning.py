"""Execution of a study's trials: sequentially in this process, or concurrently on Ray Tune."""

import shutil
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bitcipher.errors import BitcipherError
from training.runtime import Trial, run_tune_trials

# Prefix of folders with Ray Tune's own files, which exist while trials run.
_NOTES = "ray-tune-"


@dataclass(frozen=True)
class TrialResources:
    """Resources of a study's trials.

    Raises:
        BitcipherError: if the share of a GPU is invalid.
    """

    max_concurrent_trials: int
    """Maximum number of concurrent trials on Ray Tune; 0 runs them sequentially in this process."""
    gpus: float = 0.0
    """Share of a GPU per trial, such as 0.25 for four on one GPU; concurrent trials with a share of 0 see no GPU."""

    def __post_init__(self) -> None:
        """Check the share of a GPU."""
        if not 0 <= self.gpus <= 1:
            raise BitcipherError(f"`--gpus` must be between 0 and 1, got {self.gpus:g}.")
        if self.gpus and not self.max_concurrent_trials:
            raise BitcipherError("`--gpus` is the share of concurrent trials; set `--max-concurrent-trials` too.")


def run_trials(trials: Sequence[Trial], resources: TrialResources, notes: Path, on_end: Callable[[str], None]) -> None:
    """Run trials. Each trial writes its results before it ends.

    Args:
        trials: trials in the order in which they start.
        resources: number of concurrent trials, and their GPUs.
        notes: folder for Ray Tune's own files, shared by all nodes. They are in a subfolder that is removed at the end,
            because Ray pickles some of them.
        on_end: called with the name of each trial that has ended.

    Raises:
        BitcipherError: if a trial raises one, or fails too often.
    """
    if resources.max_concurrent_trials == 0:
        for trial in trials:
            trial.run()
            on_end(trial.name)
    elif trials:
        for stale in notes.glob(f"{_NOTES}*"):  # left by a killed driver
            shutil.rmtree(stale, ignore_errors=True)
        own = notes / f"{_NOTES}{uuid.uuid4().hex[:8]}"
        try:
            run_tune_trials(trials, resources.max_concurrent_trials, resources.gpus, own, on_end)
        finally:
            shutil.rmtree(own, ignore_errors=True)
