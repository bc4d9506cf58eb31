"""The learning rate of each step, as a share of the highest."""

import math
from collections.abc import Callable


def _cosine(progress: float, final: float) -> float:
    return final + (1 - final) * (1 + math.cos(math.pi * progress)) / 2


def _linear(progress: float, final: float) -> float:
    return 1 - (1 - final) * progress


SCHEDULES: dict[str, Callable[[float, float], float] | None] = {
    "cosine": _cosine,
    "linear": _linear,
    "constant": lambda progress, final: 1.0,
    "inverse-square-root": None,  # counts steps instead of progress
}


def rate_share(schedule: str, step: int, steps: int, warmup: float, final: float) -> float:
    """The share of the highest rate that a step is made with.

    Args:
        schedule: a name of `SCHEDULES`.
        step: from 0.
        steps: of the whole run.
        warmup: the share of them over which the rate rises in a straight line.
        final: the share of the rate at the end, of cosine and linear.
    """
    rising = round(warmup * steps)
    if step < rising:
        return (step + 1) / (rising + 1)
    falling = SCHEDULES[schedule]
    if falling is None:
        return math.sqrt((rising + 1) / (step + 1))
    return falling((step - rising) / max(1, steps - rising), final)
