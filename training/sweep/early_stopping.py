"""Which pre-training is not worth going on with."""

import math
from collections.abc import Sequence
from typing import Any

# A model that has learnt nothing after this share of its steps will not: even the smallest know which words are
# frequent by then.
_PATIENCE = 0.2


def stop_reason(lines: Sequence[dict[str, Any]], steps: int) -> str | None:
    """Why a run should be stopped, as a sentence, or None if it may go on.

    Args:
        lines: of its `metrics.jsonl` so far.
        steps: of the whole run.
    """
    losses = [(line["step"], line["validation_loss"]) for line in lines if "validation_loss" in line]
    if not losses:
        return None
    first, (step, last) = losses[0][1], losses[-1]
    if not math.isfinite(last):
        return f"Its loss was no number at step {step:,}."
    if step >= _PATIENCE * steps and step > 0 and last >= first:
        return f"Its loss was {last:.2f} at step {step:,}, not below that of step 0."
    return None
