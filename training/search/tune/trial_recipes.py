"""Trials of a search: combinations of options, and their recipes.

Combinations are points of a scrambled Halton sequence, which covers the ranges more evenly than independent random
numbers (Bergstra & Bengio 2012, "Random Search for Hyper-Parameter Optimization", section 5). Point i depends on the
seed and on i only, so a search with more trials begins with the same ones.
"""

import math
from dataclasses import dataclass
from typing import Any

from scipy.stats import qmc

from training.runs.recipe import Recipe
from training.search.tune.options import SearchOptions
from training.search.varied_options import format_settings, get_option, with_options

# More than any loop validation of a number of steps needs, until the budget determines it.
_MANY_STEPS = 2**40


@dataclass(frozen=True)
class TuningTrial:
    """One run of a search."""

    name: str
    """Unique name: number of the combination of options, and init."""
    init: str
    settings: dict[str, Any]
    """Values of the searched options, by name."""
    recipe: Recipe


def make_trials(options: SearchOptions) -> list[TuningTrial]:
    """Return the trials of a search in the order in which they start: for each combination of options, each init.

    The first combination is that of the recipe. Combinations are distinct, so a search over lists of values can have
    fewer trials than were asked for.

    Raises:
        BitcipherError: if a combination of options is invalid.
    """
    searched = options.searched_options
    n_combinations = math.inf if any(each.range for each in searched) else math.prod(len(e.values) for e in searched)
    sequence = qmc.Halton(len(searched), scramble=True, rng=options.seed)
    combinations: list[dict[str, Any]] = []
    drawn: list[dict[str, Any]] = []
    given: dict[str, Any] = {}
    trials: list[TuningTrial] = []
    while len(combinations) < options.trials:
        name = f"{len(combinations):03d}"
        recipes = {init: _make_recipe(options, given, init, f"{name}-{init}") for init in options.effective_inits}
        settings = _settings_of(next(iter(recipes.values())), [each.name for each in searched])
        if settings not in combinations:
            combinations.append(settings)
            trials += [TuningTrial(f"{name}-{init}", init, settings, recipe) for init, recipe in recipes.items()]
        given = {}
        while not given and len(drawn) < n_combinations:
            (point,) = sequence.random(1)
            candidate = {each.name: each.value_at(float(x)) for each, x in zip(searched, point, strict=True)}
            if candidate not in drawn:
                drawn.append(candidate)
                given = candidate
        if not given:
            break
    return trials


def _make_recipe(options: SearchOptions, settings: dict[str, Any], init: str, name: str) -> Recipe:
    values = options.recipe.to_dict()
    values["embeddings"] |= {"init": init} if init == "cipher" else {"init": init, "vectors": None, "build": {}}
    values = with_options(values, settings)
    source = f"The trial {name} ({format_settings(settings) or 'the recipe'})"
    # Numbers of steps are checked when they are known.
    unlimited = Recipe.parse({**values, "loop": {**values["loop"], "max_steps": _MANY_STEPS}}, source)
    length = unlimited.make_objective().text_length(unlimited.model.max_position_embeddings)
    steps = options.trial_budget.count_steps(unlimited.loop, length)
    return Recipe.parse({**values, "loop": {**values["loop"], "max_steps": steps}}, source)


def _settings_of(recipe: Recipe, names: list[str]) -> dict[str, Any]:
    """Return the values of options of a recipe, with defaults and in the types of the recipe."""
    values = {**recipe.to_dict(), "objective": recipe.make_objective().to_dict()}
    return {name: get_option(values, name) for name in names}
