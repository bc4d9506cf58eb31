"""Tiny runs: a small text, its token shards, and a recipe."""

import json
from pathlib import Path

import numpy as np

from training.data.token_shards import finish_dataset, write_shard
from training.data.train_tokenizer import train_tokenizer
from training.loop.file_names import CONFIG

RECIPE = {
    "model": {
        "architecture": "gpt2",
        "num_hidden_layers": 1,
        "hidden_size": 16,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "max_position_embeddings": 16,
    },
    "objective": {"name": "causal"},
    "loop": {
        "max_steps": 12,
        "batch_size": 8,
        "logging_steps": 1,
        "eval_steps": 4,
        "eval_sequences": 8,
        "save_steps": 4,
        "save_total_limit": None,
    },
}


def tiny_documents(count: int = 120) -> list[str]:
    """Return documents with predictable word sequences."""
    random = np.random.default_rng(3)
    subjects, verbs = ["the cat", "a dog", "my old aunt", "nobody"], ["sees", "likes", "hears", "bites"]
    return [
        " ".join(f"{random.choice(subjects)} {random.choice(verbs)} {random.choice(subjects)}." for _ in range(12))
        for _ in range(count)
    ]


def write_tiny_text(folder: Path, **options) -> Path:
    """Write the token shards of the documents, and return their directory."""
    documents = tiny_documents()
    tokenizer = train_tokenizer(documents, options.pop("kind", "bpe"), 300, **options)
    notes = [write_shard(str(folder), name, documents[at::2], tokenizer, 0.2) for at, name in enumerate("ab")]
    finish_dataset(str(folder), notes, tokenizer)
    return folder


def merged(values: dict, changes: dict) -> dict:
    """Return nested values with some of them changed."""
    return values | {
        name: merged(values[name], change)
        if isinstance(change, dict) and isinstance(values.get(name), dict)
        else change
        for name, change in changes.items()
    }


def config_of(folder: Path, text: Path, vectors: Path | None = None, **changes) -> dict:
    """Return the config of a run in a new directory."""
    folder.mkdir(parents=True, exist_ok=True)
    recipe = merged(RECIPE, changes)
    config = {"recipe": recipe, "text": str(text), "vectors": vectors and str(vectors), "folder": str(folder)}
    (folder / CONFIG).write_text(json.dumps(config))
    return config


class Interruption(Exception):
    """Interruption of a run by `interrupting_after`."""


def interrupting_after(last: int):
    """Return a function that interrupts a run when it is called with a later step than `last`."""

    def interrupt(step, note):
        if step > last:
            raise Interruption

    return interrupt


def curve_of(folder: Path) -> list[dict]:
    """Return the metrics of a run without its timings."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{name: value for name, value in line.items() if name != "seconds"} for line in lines]
