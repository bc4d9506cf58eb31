"""Metrics of runs, and groups of runs that differ only in the seed."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bitcipher.errors import BitcipherError
from training.loop.file_names import CONFIG, METRICS
from training.loop.metrics_logger import read_metrics
from training.runs.run_files import PretrainingConfig

# Metrics that can be the horizontal axis, with their axis labels.
AXES = {"step": "steps", "tokens": "tokens", "seconds": "seconds of training"}

# Largest integer that is a number in float64 without rounding. NumPy cannot compute with much larger ones.
MAX_INTEGER = 1 << 53


@dataclass(frozen=True)
class RunMetrics:
    """Learning curves of a run."""

    name: str
    """Name of the run directory."""
    seed: int
    """Seed of the run's recipe."""
    recipe: str
    """Recipe without the seed, as JSON; equal for all runs of a group."""
    evaluations: dict[str, np.ndarray]
    """step, tokens, seconds, validation_loss and other metrics by name, [evaluations] each."""
    losses: dict[str, np.ndarray]
    """`step` and `loss` of the logged training steps, [logged steps] each."""


@dataclass(frozen=True)
class Group:
    """Runs that differ only in the seed."""

    name: str
    """Common name of the runs, without the seed."""
    runs: tuple[RunMetrics, ...]

    def values(self, metric: str) -> np.ndarray:
        """Return a metric or an axis at each evaluation that all runs have reached, [runs, evaluations]."""
        shortest = min(len(run.evaluations["step"]) for run in self.runs)
        return np.array([run.evaluations[metric][:shortest] for run in self.runs])

    def mean(self, metric: str) -> np.ndarray:
        """Return the mean of a metric or an axis over runs, [evaluations]."""
        return self.values(metric).mean(axis=0)

    def log_perplexity(self) -> np.ndarray:
        """Return the mean of the log perplexities over runs, [evaluations]."""
        return np.log(self.values("perplexity")).mean(axis=0)


def read_run(folder: Path) -> RunMetrics:
    """Read the metrics of a finished or running run.

    Raises:
        BitcipherError: if the folder is not a run of a language model, is damaged, or has no evaluation yet.
    """
    if not (folder / CONFIG).exists():
        raise BitcipherError(f"{folder} is not a run; give a folder that `bitcipher train` wrote.")
    options = PretrainingConfig.read(str(folder / CONFIG)).recipe
    if options.model.projector_size is not None:
        raise BitcipherError(
            f"{folder} has no perplexity, because its objective {options.objective['name']} predicts no tokens; give "
            "runs of language models."
        )
    recipe = options.to_dict()
    seed = recipe.pop("seed")
    lines = read_metrics(folder)
    evaluated = [line for line in lines if "validation_loss" in line]
    logged = [line for line in lines if "loss" in line]
    if not evaluated:
        raise BitcipherError(f"{folder} has no evaluation yet; wait for the first one in its {METRICS}.")
    for required, names in ((evaluated, (*AXES, "validation_loss", "perplexity")), (logged, ("step", "loss"))):
        for name in names:
            if not _is_number(required, name):
                raise BitcipherError(
                    f"{folder / METRICS} is damaged: `{name}` must be a number in each line with losses."
                )
    metrics = [name for name in evaluated[0] if _is_number(evaluated, name)]
    evaluations, losses = _columns(evaluated, metrics), _columns(logged, ("step", "loss"))
    return RunMetrics(folder.resolve().name, seed, json.dumps(recipe, sort_keys=True), evaluations, losses)


def group_runs(runs: Sequence[RunMetrics]) -> list[Group]:
    """Group runs by recipe, in order of first appearance. A group has the name of its runs without the seed.

    Raises:
        BitcipherError: if two runs of a recipe have the same seed, or two groups the same name.
    """
    by_recipe: dict[str, list[RunMetrics]] = {}
    for run in runs:
        same_recipe = by_recipe.setdefault(run.recipe, [])
        same = next((other for other in same_recipe if other.seed == run.seed), None)
        if same:
            raise BitcipherError(f"{same.name} and {run.name} have the same recipe and seed; give only one of them.")
        same_recipe.append(run)
    groups: dict[str, Group] = {}
    for same_recipe in by_recipe.values():
        name = _name(same_recipe)
        if name in groups:
            raise BitcipherError(f"Two groups of runs would have the name {name}; rename the folders of one of them.")
        groups[name] = Group(name, tuple(same_recipe))
    return list(groups.values())


def _name(runs: Sequence[RunMetrics]) -> str:
    if len(runs) == 1:
        return runs[0].name
    # Each name loses its own seed: cipher-10 and cipher-11 are runs of cipher, not of cipher-1.
    names = {re.sub(rf"[-_. ]*(seed)?[-_. ]*0*{run.seed}$", "", run.name) for run in runs}
    return (len(names) == 1 and names.pop()) or runs[0].name


def _is_number(lines: Sequence[dict[str, object]], name: str) -> bool:
    """Return whether a metric is a number in all lines. Huge integers are not."""
    values = [line.get(name) for line in lines]
    return all(isinstance(value, float) or (isinstance(value, int) and abs(value) <= MAX_INTEGER) for value in values)


def _columns(lines: Sequence[dict[str, float]], names: Sequence[str]) -> dict[str, np.ndarray]:
    return {name: np.array([line[name] for line in lines]) for name in names}
