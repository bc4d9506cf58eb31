"""Runs of training that take a second: a tiny corpus, and settings that make any recipe of a decoder tiny."""

from pathlib import Path

import user_folder
from typer.testing import CliRunner

from cluster.cli.main import app

# Few tokens, so that each has been seen and has a vector.
SETTINGS = (
    *("text.tokenizer.kind=wordpiece", "text.tokenizer.size=80", "text.validation_share=0.1"),
    *("model.layers=2", "model.width=16", "model.heads=2", "model.inner=32", "model.positions=32"),
    *("loop.steps=6", "loop.batch=4", "loop.log_every=1", "loop.device=cpu", "loop.precision=float32"),
    *("loop.evaluate_every=3", "loop.evaluate_sequences=16", "loop.checkpoint_every=3", "loop.keep_checkpoints=0"),
)

# The same for a study of the shipped ones, with two shapes.
STUDY = (
    *("language.held_out_share=0.1", "tokenizer.size=300", "shapes.sets=[]", "shapes.names=[8-8-16-1-1, 16-16-32-1-1]"),
    *("pretraining.positions=16", "pretraining.loop.steps=12", "pretraining.loop.batch=4"),
    *("pretraining.loop.learning_rate=1e-2", "pretraining.loop.evaluate_every=3", "pretraining.loop.device=cpu"),
    *("pretraining.loop.evaluate_sequences=16", "downstream.glue=null", "choice={}"),
)


def arguments_of(settings: tuple[str, ...] = SETTINGS) -> list[str]:
    """Settings as arguments of the command."""
    return [argument for setting in settings for argument in ("--set", setting)]


def write_corpus(folder: Path) -> Path:
    """Text to train on."""
    if not folder.exists():
        user_folder.write_corpus(folder / "part-0.json.gz")
    return folder


def train(folder: Path, out: Path, *settings: str, recipe: str = "figure-4-cold") -> Path:
    """A run of a recipe, made tiny, on `folder/corpus`; what it prepares is in `folder/prepared`."""
    corpus = write_corpus(folder / "corpus")
    line = ["train", recipe, "--out", str(out), "--prepared", str(folder / "prepared")]
    result = CliRunner().invoke(app, [*line, *arguments_of((*SETTINGS, f"text.sources=[{corpus}]", *settings))])
    assert result.exit_code == 0, f"{result.output}\n{result.exception!r}"
    return out
