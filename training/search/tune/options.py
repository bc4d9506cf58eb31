"""Options of a search. This module is imported to check options, so it does not import torch."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from bitcipher.errors import BitcipherError
from bitcipher.files.records import FROM_LIST, Record, Strings
from training.runs.recipe import Recipe
from training.search.tune.searched_option import SearchedOption, parse_searched_option
from training.search.tune.trial_budget import TrialBudget, parse_budget

TUNE = "tune.json"

Inits = Annotated[tuple[Literal["random", "cipher"], ...], FROM_LIST]


class SearchOptions(Record):
    """Search over options of a recipe; stored as `tune.json`."""

    recipe: Recipe
    """Recipe whose options are varied. Its own options are those of the first trial."""
    search: Strings
    """Options to vary, such as "loop.batch_size=[16, 32]"."""
    budget: str
    """Steps or tokens of each trial, such as "500steps" or "2Mtokens"."""
    trials: int = Field(ge=1)
    """Maximum number of trials per init."""
    inits: Inits = ()
    """Inits that every combination of options is trained with; empty for that of the recipe."""
    seed: int = Field(ge=0, lt=2**32)
    """Seed of the combinations of options."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        try:
            names = [option.name for option in self.searched_options]
            parse_budget(self.budget)
        except BitcipherError as error:
            # `Record` names the mistake of a ValueError.
            raise ValueError(str(error)) from None
        if not names:
            raise ValueError("A search needs options to vary, such as --search 'loop.batch_size=[16, 32]'.")
        for kind, values in (("--search", names), ("--init", self.inits)):
            if len(set(values)) < len(values):
                raise ValueError(f"`{kind}` must not repeat a value, got {', '.join(values)}.")
        return self

    @property
    def searched_options(self) -> list[SearchedOption]:
        """Options to vary, with their values or ranges."""
        return [parse_searched_option(text) for text in self.search]

    @property
    def trial_budget(self) -> TrialBudget:
        """Budget of each trial."""
        return parse_budget(self.budget)

    @property
    def effective_inits(self) -> tuple[str, ...]:
        """`inits`, or the init of the recipe if there are none."""
        return self.inits or (self.recipe.embeddings.init,)
