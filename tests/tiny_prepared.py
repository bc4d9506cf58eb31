"""Tiny recipes, and their prepared text and vectors."""

from pathlib import Path

from tiny_runs import tiny_documents

from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.progress import StageProgress
from training.runs.prepare.text import prepare_text
from training.runs.prepare.vectors import prepare_vectors
from training.runs.recipe import Recipe


def written(folder, documents=None, endings=("a.txt", "b.txt", "c.txt")):
    """Write documents to files, one per line."""
    folder.mkdir()
    documents = documents or tiny_documents()
    for at, name in enumerate(endings):
        (folder / name).write_text("\n".join(documents[at :: len(endings)]))
    return folder


def recipe_of(sources, embeddings=None, model=None, **text):
    tokenizer = {"vocab_size": 280} | text.pop("tokenizer", {})
    options = {"sources": [str(sources)], "tokenizer": tokenizer, "validation_fraction": 0.2} | text
    sizes = {
        "architecture": "gpt2",
        "num_hidden_layers": 1,
        "hidden_size": 8,
        "num_attention_heads": 1,
        "intermediate_size": 8,
        "max_position_embeddings": 8,
    }
    model = sizes | (model or {})
    objective = {"name": "masked" if model["architecture"] == "roberta" else "causal"}
    values = {"text": options, "model": model, "objective": objective, "embeddings": embeddings or {}}
    return Recipe.parse(values, "test")


def text_of(recipe, prepared, runtime=None):
    return Path(prepare_text(recipe.text, str(prepared), runtime or InProcessRuntime(), StageProgress()))


def vectors_of(recipe, prepared, runtime=None):
    runtime = runtime or InProcessRuntime()
    text = str(text_of(recipe, prepared, runtime))
    return prepare_vectors(recipe, text, str(prepared), runtime, StageProgress())


def content_of(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
