"""A study of seconds: a small corpus with a few rare words, tasks in its words, and a recipe for both."""

from pathlib import Path

import numpy as np
import tiny_tasks
import yaml

SHAPES = ("8-8-16-1-1", "16-8-32-1-2", "16-16-32-2-2")
RECIPE = {
    "language": {"level": "sentences", "top": 20, "span": 20, "stride": 10, "held_out_share": 0.15},
    "tokenizer": {"size": 300},
    "shapes": {"sets": [], "names": list(SHAPES)},
    "pretraining": {
        "starts": ["cold", "cipher"],
        "positions": 16,
        "loop": {
            "steps": 24,
            "batch": 8,
            "learning_rate": 1e-2,
            "log_every": 4,
            "evaluate_every": 6,
            "evaluate_sequences": 16,
            "checkpoint_every": 8,
            "device": "cpu",
        },
    },
    "downstream": {"tasks": ["cola"], "filtered": [True, False], "seeds": 1, "epochs": 1, "batch": 16, "most": 2},
}


def write(folder: Path) -> Path:
    """A folder with `corpus`, `glue` and `study.yaml`, which names both as they are called from there."""
    random = np.random.default_rng(5)
    (folder / "corpus").mkdir(parents=True)
    for part in "ab":
        documents = (" ".join(_sentence(random) for _ in range(12)) for _ in range(60))
        (folder / "corpus" / f"{part}.txt").write_text("\n".join(documents) + "\n")
    for name, task in (("CoLA", "cola"), ("STS-B", "stsb")):
        tiny_tasks.write_task(folder / "glue" / name, task, 40)
    downstream = {**RECIPE["downstream"], "glue": "glue"}
    (folder / "study.yaml").write_text(yaml.safe_dump({**RECIPE, "sources": ["corpus"], "downstream": downstream}))
    return folder


def _sentence(random: np.random.Generator) -> str:
    words = [*random.choice(tiny_tasks.FILLERS, random.integers(4, 9)), random.choice(tiny_tasks.NAMES)]
    # One in ten has a word that few others have, and is not kept.
    rare = [f"rare{'abcdefghij'[random.integers(10)]}"] if random.random() < 0.1 else []
    return f"{' '.join([*words, *rare]).capitalize()}."
