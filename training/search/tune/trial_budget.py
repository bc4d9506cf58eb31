"""Budget of a trial: a number of steps or of tokens."""

import re
from bisect import bisect_right
from typing import Literal

from pydantic import Field

from bitcipher.errors import BitcipherError
from bitcipher.files.records import Record
from training.loop.options import LoopOptions

_BUDGET = re.compile(r"(\d+(?:\.\d+)?)\s*([kMG]?)\s*(steps|tokens)")
_FACTORS = {"": 1, "k": 1_000, "M": 1_000_000, "G": 1_000_000_000}
# More than any budget has, but few enough for sums of steps.
MAX_STEPS = 2**40


class TrialBudget(Record):
    """Number of steps or of tokens that each trial trains on."""

    amount: int = Field(ge=1)
    unit: Literal["steps", "tokens"]

    def count_steps(self, loop: LoopOptions, tokens_per_sequence: int) -> int:
        """Return the number of steps of a run.

        Args:
            loop: batch sizes of the run.
            tokens_per_sequence: number of tokens of text in a sequence.

        Raises:
            BitcipherError: if the tokens are not enough for one step.
        """
        if self.unit == "steps":
            return self.amount

        def count_tokens(steps: int) -> int:
            # The number of steps determines that of a batch ramp.
            return loop.model_copy(update={"max_steps": steps}).count_sequences(steps) * tokens_per_sequence

        steps = bisect_right(range(1, self.amount + 1), self.amount, key=count_tokens)
        if steps == 0:
            raise BitcipherError(
                f"`--budget` has {self.amount:,} tokens, fewer than one step of {loop.batch_size_at(0)} sequences of "
                f"{tokens_per_sequence} tokens; give more."
            )
        return steps


def parse_budget(text: str) -> TrialBudget:
    """Return a budget such as "500steps" or "2Mtokens".

    Raises:
        BitcipherError: if the text is malformed.

    >>> parse_budget("1.5Mtokens").amount
    1500000
    """
    match = _BUDGET.fullmatch(text.strip())
    amount = round(float(match[1]) * _FACTORS[match[2]]) if match else 0
    if match is None or not 1 <= amount <= MAX_STEPS:
        raise BitcipherError(
            f"`--budget` must be a number of steps or tokens, such as 500steps or 2Mtokens, got {text!r}."
        )
    return TrialBudget(amount=amount, unit="steps" if match[3] == "steps" else "tokens")
