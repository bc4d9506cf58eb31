"""Options of a recipe that a search varies, with their values or ranges."""

import math
from typing import Annotated, Any, Self

from pydantic import model_validator

from bitcipher.errors import BitcipherError
from bitcipher.files.records import FROM_LIST, Float, Record
from training.search.varied_options import parse_values

# Losses of trials are comparable only if they are of the same tokens, so a search varies no options of the text.
GROUPS = ("model", "objective", "embeddings", "loop")
_FIXED = {
    "loop.max_steps": "`--budget` determines it",
    "loop.eval_sequences": "losses of other sequences are not comparable",
    "model.max_position_embeddings": "losses of sequences of other lengths are not comparable",
    "model.checkpoint": "its tokenizer determines the text",
    "objective.name": "losses of other objectives are not comparable",
    "embeddings.init": "`--init` varies it",
}
# Drawn numbers are rounded, so that recipes are easy to read.
_SIGNIFICANT_DIGITS = 3

Bounds = Annotated[tuple[Float, Float], FROM_LIST]


class SearchRange(Record):
    """Bounds of a number: `uniform` or, for numbers whose ratios matter, such as learning rates, `loguniform`."""

    uniform: Bounds | None = None
    loguniform: Bounds | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.uniform is None) == (self.loguniform is None):
            raise ValueError("a range is either {uniform: [LOW, HIGH]} or {loguniform: [LOW, HIGH]}.")
        low, high = self.bounds
        if low >= high or (self.loguniform and low <= 0):
            sign = " above 0" if self.loguniform else ""
            raise ValueError(f"the bounds of a range must be increasing numbers{sign}, got {low:g} and {high:g}.")
        return self

    @property
    def bounds(self) -> tuple[float, float]:
        """Lowest and highest number."""
        return self.loguniform or self.uniform or (0.0, 1.0)

    def value_at(self, fraction: float) -> float:
        """Return the number at a fraction in [0, 1) of the range, rounded to three significant digits."""
        low, high = self.bounds
        if self.loguniform:
            value = math.exp(math.log(low) + fraction * (math.log(high) - math.log(low)))
        else:
            value = low + fraction * (high - low)
        return min(max(float(f"{value:.{_SIGNIFICANT_DIGITS}g}"), low), high)


class SearchedOption(Record):
    """Option with the values or the range that its trials are drawn from."""

    name: str
    """Dotted name, such as "loop.learning_rate"."""
    values: tuple[Any, ...] = ()
    """Values to choose from; empty if there is a range."""
    range: SearchRange | None = None

    def value_at(self, fraction: float) -> Any:
        """Return the value at a fraction in [0, 1) of the values, or of the range."""
        return self.range.value_at(fraction) if self.range else self.values[int(fraction * len(self.values))]


def parse_searched_option(text: str) -> SearchedOption:
    """Return the option of a NAME=VALUES item, whose values are YAML: a list, or a mapping with a range.

    Raises:
        BitcipherError: if the item is malformed, or a search cannot vary the option.

    >>> parse_searched_option("loop.learning_rate={loguniform: [1.0e-4, 1.0e-2]}").value_at(0.5)
    0.001
    >>> parse_searched_option("loop.batch_size=[16, 32]").value_at(0.5)
    32
    """
    name, values = parse_values(text, "--search", _FIXED)
    if name.partition(".")[0] not in GROUPS or name in GROUPS:
        groups = ", ".join(f"{group}.…" for group in GROUPS)
        raise BitcipherError(f"`--search` varies options of a recipe ({groups}), got {name!r}.")
    if isinstance(values, dict):
        return SearchedOption(name=name, range=SearchRange.parse(values, f"`--search {text}`"))
    if not isinstance(values, list) or not values:
        raise BitcipherError(
            f"`--search {text}` must give a list of values, such as [16, 32], or a range, such as "
            "{loguniform: [1.0e-4, 1.0e-2]}."
        )
    return SearchedOption(name=name, values=tuple(values))
