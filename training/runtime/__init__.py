"""Execution of training functions: in this process, on workers of Ray Train, or as trials of Ray Tune.

Only this package of `training` imports Ray.
"""

from training.runtime.calls import Config
from training.runtime.trials import Trial, run_tune_trials
from training.runtime.workers import run_workers

__all__ = ["Config", "Trial", "run_tune_trials", "run_workers"]
