"""Early stopping of pre-training runs that make no progress. The loop stops those that diverge."""

from collections.abc import Sequence
from typing import Any

# Fraction of the steps after which a run without progress is stopped. By then, even the smallest models have learned
# word frequencies.
_PATIENCE = 0.2


def stop_reason(lines: Sequence[dict[str, Any]], steps: int) -> str | None:
    """Return why a run should be stopped, as a sentence, or None if it should continue.

    Args:
        lines: lines of the run's `metrics.jsonl` so far.
        steps: number of steps of the whole run.
    """
    losses = [(line["step"], line["validation_loss"]) for line in lines if "validation_loss" in line]
    if not losses:
        return None
    first, (step, last) = losses[0][1], losses[-1]
    if step >= _PATIENCE * steps and step > 0 and last >= first:
        return f"The loss is {last:.2f} at step {step:,}, not below that of step 0."
    return None
