"""Folders of runs with curves that are written down, or drawn by a formula."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

TOKENS = 1000  # of a step


def write_run(folder: Path, seed: int, losses: Mapping[int, float], recipe: Mapping | None = None, **figures) -> Path:
    """A run with a held-out loss at each step, ten steps a second, and a line of training at each step but 0.

    Args:
        folder: of the run.
        seed: of its recipe.
        losses: by step.
        recipe: further values of it.
        figures: further figures of every evaluation.
    """
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({"recipe": {"seed": seed, **(recipe or {})}}))
    lines: list[dict] = []
    for step, loss in losses.items():
        spent = {"step": step, "tokens": step * TOKENS, "seconds": step / 10}
        if step:
            lines.append(spent | {"loss": loss + 0.1, "grad_norm": 1.0, "learning_rate": 0.1})
        lines.append(spent | {"validation_loss": loss, "perplexity": math.exp(loss), **figures})
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def falling(start: float, end: float, speed: float, seed: int, steps: Sequence[int]) -> dict[int, float]:
    """A curve as training has them."""
    random = np.random.default_rng(seed)
    return {step: end + (start - end) * math.exp(-speed * step) + 0.03 * random.normal() for step in steps}
