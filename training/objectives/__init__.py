"""What a language model is trained to predict: examples of sequences, and the sum of their losses."""

from dataclasses import fields

from bitcipher.errors import BitcipherError
from training.objectives.base import BatchContext, Objective, check_fits
from training.objectives.causal import CausalLM
from training.objectives.masked import MaskedLM
from training.objectives.next_sentence import NextSentence
from training.objectives.span_corruption import SpanCorruption
from training.objectives.word_boundaries import word_starts
from training.settings import make_record

OBJECTIVES: dict[str, type] = {
    "masked": MaskedLM,
    "causal": CausalLM,
    "span_corruption": SpanCorruption,
    "next_sentence": NextSentence,
}


def make_objective(name: str, **options: object) -> Objective:
    """An objective by its name, with options by theirs.

    Raises:
        BitcipherError: if there is no such objective, or it has no such option, or the option cannot have such a value.
    """
    if name not in OBJECTIVES:
        raise BitcipherError(f"There is no objective {name!r}: choose one of {', '.join(OBJECTIVES)}.")
    known = [field.name for field in fields(OBJECTIVES[name])]
    for option in options:
        if option not in known:
            offer = f"it has {', '.join(known)}" if known else "it has none"
            raise BitcipherError(f"The objective {name} has no option {option!r}: {offer}.")
    return make_record(OBJECTIVES[name], options, f"The objective {name}")


__all__ = [
    "OBJECTIVES",
    "BatchContext",
    "CausalLM",
    "MaskedLM",
    "NextSentence",
    "Objective",
    "SpanCorruption",
    "check_fits",
    "make_objective",
    "word_starts",
]
