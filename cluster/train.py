"""A training run from a recipe: text and vectors are prepared, then workers train."""

import json
import shutil
import uuid
from dataclasses import asdict
from pathlib import Path

from bitcipher import storage
from bitcipher.errors import BitcipherError
from cluster.follow import following
from cluster.prepare import prepare_text, prepare_vectors
from pipelines.progress import StageProgress
from pipelines.runtime import open_runtime
from training.pretrain import CONFIG, pretrain
from training.recipe import Recipe
from training.runtime import run_workers


def train(recipe: Recipe, folder: Path, prepared: Path, workers: int, progress: StageProgress) -> None:
    """Train what a recipe says, or go on with a run that was stopped.

    Args:
        recipe: of the run.
        folder: of the run, which all workers see.
        prepared: folder of token shards and vectors, which runs share; all workers see it.
        workers: of Ray; 0 trains in this process.
        progress: where to show how far it is.

    Raises:
        BitcipherError: if the folder holds a run of another recipe, or the recipe cannot be run.
    """
    recipe.loop.micro_batch_on(max(workers, 1))
    begun = folder / CONFIG
    if folder.exists() and any(folder.iterdir()) and not begun.exists():
        raise BitcipherError(f"{folder} is no run, and is not empty: choose another folder.")
    folder.mkdir(parents=True, exist_ok=True)
    plain = json.loads(json.dumps(asdict(recipe)))
    if begun.exists() and json.loads(begun.read_text("utf-8"))["recipe"] != plain:
        raise BitcipherError(f"{folder} holds a run of another recipe: choose another folder, or remove it first.")
    with open_runtime(workers) as runtime:
        text = prepare_text(recipe.text, prepared, runtime, progress)
        vectors = prepare_vectors(recipe, text, prepared, runtime, progress)
    for notes in folder.glob("ray-*"):  # of a driver that was killed
        shutil.rmtree(notes, ignore_errors=True)
    config = {"recipe": plain, "text": str(text), "vectors": vectors, "folder": str(folder)}
    begun.write_text(json.dumps(config), "utf-8")
    with following(folder, recipe.loop.steps, progress):
        run_workers(pretrain, config, workers, recipe.loop.device, folder / f"ray-{uuid.uuid4().hex[:8]}")


def local_folder(uri: str) -> Path:
    """The path of a folder of a run.

    Raises:
        BitcipherError: if it is not on a file system: shards are mapped into memory, and lines are added to logs.
    """
    path = storage.local_path(storage.absolute(uri))
    if path is None:
        raise BitcipherError(f"Training takes a folder on a file system that all workers see, and {uri} is none.")
    return Path(path)
