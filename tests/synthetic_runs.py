"""Run folders with given or synthetic learning curves."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

TOKENS = 1000  # per step


def write_run(folder: Path, seed: int, losses: Mapping[int, float], recipe: Mapping | None = None, **metrics) -> Path:
    """Write a run with an evaluation at each given step, and a training loss at each of these steps except 0.

    Args:
        folder: folder of the run.
        seed: seed in its recipe.
        losses: validation loss by step; ten steps take a second.
        recipe: further values of the recipe.
        metrics: further metrics of every evaluation.
    """
    folder.mkdir(parents=True)
    config = {"recipe": {"seed": seed, **(recipe or {})}, "text": "text", "vectors": None, "folder": str(folder)}
    (folder / "run.json").write_text(json.dumps(config))
    lines: list[dict] = []
    for step, loss in losses.items():
        spent = {"step": step, "tokens": step * TOKENS, "seconds": step / 10}
        if step:
            lines.append(spent | {"loss": loss + 0.1, "grad_norm": 1.0, "learning_rate": 0.1})
        lines.append(spent | {"validation_loss": loss, "perplexity": math.exp(loss), **metrics})
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def falling(start: float, end: float, speed: float, seed: int, steps: Sequence[int]) -> dict[int, float]:
    """Return validation losses by step that decrease exponentially, with noise."""
    random = np.random.default_rng(seed)
    return {step: end + (start - end) * math.exp(-speed * step) + 0.03 * random.normal() for step in steps}
