"""Runs of shipped recipes that share a prepared text."""

import json
from collections.abc import Sequence

from bitcipher.files import storage
from pipelines.runtime.progress import StageProgress
from training.runs.launch.pretraining import launch_pretraining
from training.runs.recipe import find_recipe, read_recipe

PREPARED = "prepared"


def train_recipe(
    recipe: str, folder: str, out: str, settings: Sequence[str], workers: int, progress: StageProgress
) -> str:
    """Train a shipped recipe with the prepared text of the directory `out`, and return the folder of the run."""
    prepared = storage.join(out, PREPARED)
    launch_pretraining(read_recipe(find_recipe(recipe), settings), folder, prepared, workers, progress)
    return folder


def set_sources(sources: Sequence[str]) -> str:
    """Return the setting of the sources."""
    return f"text.sources={json.dumps(list(sources))}"
