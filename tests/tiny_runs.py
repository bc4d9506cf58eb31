"""Runs of a second: a small text, its token shards, and a recipe for it."""

import json
from pathlib import Path

import numpy as np

from training.data import finish_text, train_tokenizer, write_shard
from training.pretrain import CONFIG

RECIPE = {
    "model": {"architecture": "gpt2", "layers": 1, "width": 16, "heads": 2, "inner": 32, "positions": 16},
    "objective": {"name": "causal"},
    "loop": {
        "steps": 12,
        "batch": 8,
        "log_every": 1,
        "evaluate_every": 4,
        "evaluate_sequences": 8,
        "checkpoint_every": 4,
        "keep_checkpoints": 0,
    },
}


def tiny_documents(count: int = 120) -> list[str]:
    """Sentences in which some words follow others more often than chance has it."""
    random = np.random.default_rng(3)
    subjects, verbs = ["the cat", "a dog", "my old aunt", "nobody"], ["sees", "likes", "hears", "bites"]
    return [
        " ".join(f"{random.choice(subjects)} {random.choice(verbs)} {random.choice(subjects)}." for _ in range(12))
        for _ in range(count)
    ]


def write_tiny_text(folder: Path, **options) -> Path:
    """Token shards of the documents, in a folder."""
    documents = tiny_documents()
    tokenizer = train_tokenizer(documents, options.pop("kind", "bpe"), 300, **options)
    notes = [write_shard(str(folder), name, documents[at::2], tokenizer, 0.2) for at, name in enumerate("ab")]
    finish_text(str(folder), notes, tokenizer)
    return folder


def merged(values: dict, changes: dict) -> dict:
    """Values with others put in, group by group."""
    return values | {
        name: merged(values[name], change)
        if isinstance(change, dict) and isinstance(values.get(name), dict)
        else change
        for name, change in changes.items()
    }


def config_of(folder: Path, text: Path, vectors: Path | None = None, **changes) -> dict:
    """What `pretrain` takes, for a run in a new folder."""
    folder.mkdir(parents=True, exist_ok=True)
    recipe = merged(RECIPE, changes)
    config = {"recipe": recipe, "text": str(text), "vectors": vectors and str(vectors), "folder": str(folder)}
    (folder / CONFIG).write_text(json.dumps(config))
    return config


def curve_of(folder: Path) -> list[dict]:
    """The lines of a run without what depends on the clock."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{name: value for name, value in line.items() if name != "seconds"} for line in lines]
