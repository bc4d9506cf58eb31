"""Options of a grid, and its trials. This module is imported to check options, so it does not import torch."""

import itertools
from dataclasses import dataclass
from typing import Any, Self

from pydantic import model_validator

from bitcipher.errors import BitcipherError
from bitcipher.files.records import Record, Strings
from training.search.varied_options import format_settings, get_option, parse_values, with_options
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
    name, values = parse_values(item, "--grid", _FIXED)
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
    base, trials = options.finetuning.to_dict(), []
    for number, settings in enumerate(combinations):
        for seed in seeds:
            settings_of_trial = {**settings, SEED: seed}
            source = f"The trial with {format_settings(settings_of_trial)}"
            trial = FinetuneOptions.parse(with_options(base, settings_of_trial), source)
            plain = trial.to_dict()
            values = {name: get_option(plain, name) for name in varied}
            trials.append(GridTrial(f"{number:03d}-{trial.seed}", number, values, trial))
    for first, second in itertools.combinations(trials, 2):
        if first.options == second.options:
            raise BitcipherError(
                f"`--grid` gives two equal trials ({format_settings({**second.settings, SEED: second.options.seed})}); "
                "remove repeated values."
            )
    return trials
