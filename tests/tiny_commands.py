"""Tiny training runs by command: a small corpus, and settings for any decoder recipe."""

from pathlib import Path

import user_folder
from typer.testing import CliRunner

from cluster.cli.main import app

# A small vocabulary, so that each token occurs and has a vector.
SETTINGS = (
    *("text.tokenizer.kind=wordpiece", "text.tokenizer.vocab_size=80", "text.validation_fraction=0.1"),
    *(
        "model.num_hidden_layers=2",
        "model.hidden_size=16",
        "model.num_attention_heads=2",
        "model.intermediate_size=32",
        "model.max_position_embeddings=32",
    ),
    *("loop.max_steps=6", "loop.batch_size=4", "loop.logging_steps=1", "loop.device=cpu", "loop.precision=float32"),
    *("loop.eval_steps=3", "loop.eval_sequences=16", "loop.save_steps=3", "loop.save_total_limit=null"),
)

# The same for a shipped study, with two model shapes.
STUDY = (
    *(
        "language.held_out_share=0.1",
        "tokenizer.vocab_size=300",
        "shapes.sets=[]",
        "shapes.names=[8-8-16-1-1, 16-16-32-1-1]",
    ),
    *("pretraining.max_position_embeddings=16", "pretraining.loop.max_steps=12", "pretraining.loop.batch_size=4"),
    *("pretraining.loop.learning_rate=1e-2", "pretraining.loop.eval_steps=3", "pretraining.loop.device=cpu"),
    *("pretraining.loop.eval_sequences=16", "downstream.glue=null", "choice={}"),
)


def arguments_of(settings: tuple[str, ...] = SETTINGS) -> list[str]:
    """Return settings as command-line arguments."""
    return [argument for setting in settings for argument in ("--set", setting)]


def write_corpus(folder: Path) -> Path:
    """Write the training text."""
    if not folder.exists():
        user_folder.write_corpus(folder / "part-0.json.gz")
    return folder


def train(folder: Path, out: Path, *settings: str, recipe: str = "figure-4-random") -> Path:
    """Train a tiny version of a recipe on `folder/corpus`, with prepared files in `folder/prepared`."""
    corpus = write_corpus(folder / "corpus")
    line = ["train", recipe, "--out", str(out), "--prepared", str(folder / "prepared")]
    result = CliRunner().invoke(app, [*line, *arguments_of((*SETTINGS, f"text.sources=[{corpus}]", *settings))])
    assert result.exit_code == 0, f"{result.output}\n{result.exception!r}"
    return out
