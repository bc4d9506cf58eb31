"""Options of a grid, and its trials. This module is imported to check options, so it does not import torch."""

import copy
import itertools
from dataclasses import dataclass
from typing import Any, Self

from pydantic import model_validator

from bitcipher.errors import BitcipherError
from bitcipher.files.records import Record, Strings
from bitcipher.files.settings import format_value, get_option, parse_values, set_option
from training.tasks.finetuning.options import FinetuneOptions

GRID = "grid.json"
SEED = "seed"
_FIXED = {
    "model": "the argument MODEL determines it",
    "task": "`--task` determines it",
    "data": "`--data` determines it",
    "vocabulary": "scores of other examples are not comparable",
}


class GridOptions(Record):
    """Grid of fine-tuning runs; stored as `grid.json`."""

    finetuning: FinetuneOptions
    """Options of all trials, except for those that the grid varies."""
    grid: Strings
    """Options to vary, such as "loop.batch_size=[16, 32]"."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        try:
            names = [name for name, _ in map(parse_grid_item, self.grid)]
        except BitcipherError as error:
            # `Record` names the mistake of a ValueError.
            raise ValueError(str(error)) from None
        if len(set(names)) < len(names):
            raise ValueError(f"`--grid` must not repeat an option, got {', '.join(names)}.")
        if "loop.max_steps" in names and self.finetuning.num_train_epochs is not None:
            raise ValueError("`--grid` varies loop.max_steps, which needs --set num_train_epochs=null.")
        return self

    @property
    def values(self) -> dict[str, list[Any]]:
        """Values of each option that the grid varies."""
        return dict(map(parse_grid_item, self.grid))


@dataclass(frozen=True)
class GridTrial:
    """One run of a grid."""

    name: str
    """Unique name: number of the combination of options, and seed."""
    combination: int
    """Number of the combination of options."""
    settings: dict[str, Any]
    """Values of the options that the grid varies, by name, except for the seed."""
    options: FinetuneOptions


def parse_grid_item(item: str) -> tuple[str, list[Any]]:
    """Return the name and the values of a NAME=VALUES item.

    Raises:
        BitcipherError: if the item is malformed, or a grid cannot vary the option.

    >>> parse_grid_item("loop.batch_size=[16, 32]")
    ('loop.batch_size', [16, 32])
    """
    name, values = parse_values(item, "--grid")
    if name in _FIXED:
        raise BitcipherError(f"`--grid` cannot vary {name}: {_FIXED[name]}.")
    if not isinstance(values, list) or not values:
        raise BitcipherError(f"`--grid {item}` must give a list of values, such as [16, 32].")
    return name, values


def make_trials(options: GridOptions) -> list[GridTrial]:
    """Return the trials of a grid: for each combination of options, each seed.

    Combinations are in the order of nested loops over the options; the last option varies fastest.

    Raises:
        BitcipherError: if a combination is invalid, or two are equal.
    """
    varied = options.values
    seeds = varied.pop(SEED, [options.finetuning.seed])
    combinations = [dict(zip(varied, values, strict=True)) for values in itertools.product(*varied.values())]
    trials = []
    for number, settings in enumerate(combinations):
        for seed in seeds:
            trial = _make_options(options.finetuning, {**settings, SEED: seed})
            plain = trial.to_dict()
            values = {name: get_option(plain, name) for name in varied}
            trials.append(GridTrial(f"{number:03d}-{trial.seed}", number, values, trial))
    for first, second in itertools.combinations(trials, 2):
        if first.options == second.options:
            raise BitcipherError(
                f"`--grid` gives two equal trials ({_describe({**second.settings, SEED: second.options.seed})}); "
                "remove repeated values."
            )
    return trials


def _make_options(base: FinetuneOptions, settings: dict[str, Any]) -> FinetuneOptions:
    values = copy.deepcopy(base.to_dict())
    for name, value in settings.items():
        set_option(values, name, value, f"{name}={value}")
    return FinetuneOptions.parse(values, f"The trial with {_describe(settings)}")


def _describe(settings: dict[str, Any]) -> str:
    return ", ".join(f"{name}={format_value(value)}" for name, value in settings.items())
