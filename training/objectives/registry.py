"""Objectives by name."""

from typing import Any

from bitcipher.errors import BitcipherError
from training.objectives.base import Objective
from training.objectives.causal import CausalLM
from training.objectives.masked import MaskedLM
from training.objectives.next_sentence import NextSentence
from training.objectives.replaced_tokens import ReplacedTokens
from training.objectives.simclr import SimCLR
from training.objectives.span_corruption import SpanCorruption
from training.objectives.text_pairs import TextPairs
from training.objectives.vicreg import VICReg

# To add an objective, write a module with a subclass of `Objective`, and add the subclass here.
OBJECTIVES: dict[str, type[Objective]] = {
    "masked": MaskedLM,
    "causal": CausalLM,
    "span_corruption": SpanCorruption,
    "next_sentence": NextSentence,
    "replaced_tokens": ReplacedTokens,
    "text_pairs": TextPairs,
    "simclr": SimCLR,
    "vicreg": VICReg,
}


def make_objective(values: dict[str, Any], source: str | None = None) -> Objective:
    """Return an objective from plain values.

    Args:
        values: `name`, a key of `OBJECTIVES`, and the options of that objective.
        source: where the values come from, such as a file name. Error messages begin with it if given.

    Raises:
        BitcipherError: if the name or an option does not exist, or an option is invalid.

    >>> make_objective({"name": "masked", "mlm_probability": 0.4}).mlm_probability
    0.4
    """
    options = dict(values)
    name = options.pop("name", None)
    if not isinstance(name, str) or name not in OBJECTIVES:
        sentence = f"`objective.name` must be one of {', '.join(OBJECTIVES)}, got {name!r}."
        raise BitcipherError(f"{source}: {sentence}" if source else sentence)
    return OBJECTIVES[name].parse(options, source, lambda path: ".".join(map(str, ("objective", *path))))
