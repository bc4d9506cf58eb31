"""Tiny study: a small corpus with a few rare words, tasks with the same words, and a recipe."""

from pathlib import Path

import numpy as np
import tiny_tasks
import yaml

SHAPES = ("8-8-16-1-1", "16-8-32-1-2", "16-16-32-2-2")
RECIPE = {
    "language": {"level": "sentences", "top": 20, "span": 20, "stride": 10, "held_out_share": 0.15},
    "tokenizer": {"vocab_size": 300},
    "shapes": {"sets": [], "names": list(SHAPES)},
    "pretraining": {
        "inits": ["random", "cipher"],
        "max_position_embeddings": 16,
        "loop": {
            "max_steps": 24,
            "batch_size": 8,
            "learning_rate": 1e-2,
            "logging_steps": 4,
            "eval_steps": 6,
            "eval_sequences": 16,
            "save_steps": 8,
            "device": "cpu",
        },
    },
    "downstream": {
        "tasks": ["cola"],
        "filtered": [True, False],
        "seeds": 1,
        "num_train_epochs": 1,
        "batch_size": 16,
        "max_models": 2,
    },
}


def write(folder: Path) -> Path:
    """Write `corpus`, `glue` and `study.yaml` to a directory. The recipe uses relative paths."""
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
    # About 1 in 10 documents has a rare word and is filtered out.
    rare = [f"rare{'abcdefghij'[random.integers(10)]}"] if random.random() < 0.1 else []
    return f"{' '.join([*words, *rare]).capitalize()}."
