"""Pairs of texts that a tiny encoder-decoder learns in seconds: phrases, and their translations word by word."""

from itertools import product
from pathlib import Path

from tiny_runs import merged

from training.runs.recipe import Recipe

ADJECTIVES = {"two": "zwei", "old": "alte", "young": "junge", "small": "kleine", "blue": "blaue"}
NOUNS = {"cats": "katzen", "dogs": "hunde", "birds": "vögel", "horses": "pferde", "mice": "mäuse"}
VERBS = {"see": "sehen", "hear": "hören", "sing": "singen", "sleep": "schlafen", "run": "laufen"}

RECIPE = {
    "text": {"tokenizer": {"kind": "wordpiece", "vocab_size": 400}, "validation_fraction": 0.2},
    "model": {
        "architecture": "t5",
        "num_hidden_layers": 1,
        "hidden_size": 32,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "max_position_embeddings": 16,
        "dropout": 0.0,
    },
    "objective": {"name": "text_pairs"},
    "loop": {
        "max_steps": 6,
        "batch_size": 16,
        "learning_rate": 1e-2,
        "logging_steps": 1,
        "eval_steps": 3,
        "save_steps": 3,
        "device": "cpu",
        "precision": "float32",
    },
}


def tiny_pairs() -> list[tuple[str, str]]:
    """Return all phrases of a noun, with or without an adjective and a verb, with their translations."""
    dictionary = ADJECTIVES | NOUNS | VERBS
    phrases = [[word for word in words if word] for words in product(["", *ADJECTIVES], NOUNS, ["", *VERBS])]
    return [(" ".join(words), " ".join(dictionary[word] for word in words)) for words in phrases]


def write_tsv(file: Path, pairs, names=("source", "target")) -> Path:
    """Write pairs as TSV, with names in the first line unless they are None."""
    lines = ["\t".join(row) for row in ([names] if names else []) + list(pairs)]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return file


def recipe_of(source: Path, **changes) -> Recipe:
    """Return a recipe that trains on a file of pairs."""
    return Recipe.parse(merged(merged(RECIPE, {"text": {"sources": [str(source)]}}), changes), "test")
