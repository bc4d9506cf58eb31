"""A training run from a recipe: text and vectors are prepared, then workers train."""

import json
from dataclasses import asdict, replace
from pathlib import Path

from bitcipher import storage
from bitcipher.errors import BitcipherError
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.runtime import open_runtime
from training.launch.run_dir import claim, work_in
from training.prepare import prepare_text, prepare_vectors
from training.pretrain import CONFIG, TOKENIZER, pretrain
from training.recipe import Recipe


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
    recipe = _with_tokenizer_of_checkpoint(recipe)
    plain = json.loads(json.dumps(asdict(recipe)))
    claim(folder, CONFIG, {"recipe": plain})
    with open_runtime(workers) as runtime:
        text = prepare_text(recipe.text, prepared, runtime, progress)
        vectors = prepare_vectors(recipe, text, prepared, runtime, progress)
    config = {"recipe": plain, "text": str(text), "vectors": vectors}
    work_in(folder, CONFIG, pretrain, config, lambda: recipe.loop.steps, workers, recipe.loop.device, progress)


def _with_tokenizer_of_checkpoint(recipe: Recipe) -> Recipe:
    """A model that starts from a checkpoint reads the text with its own tokenizer, unless another one is named."""
    if recipe.model.checkpoint is None:
        return recipe
    # Workers have other working directories.
    checkpoint = storage.absolute(recipe.model.checkpoint)
    recipe = replace(recipe, model=replace(recipe.model, checkpoint=checkpoint))
    if recipe.text.tokenizer.path is not None:
        return recipe
    path = storage.join(checkpoint, TOKENIZER)
    if not storage.exists(path):
        raise BitcipherError(
            f"There is no {TOKENIZER} in {checkpoint}: name a run by --set model.checkpoint=RUN, or the tokenizer of "
            "the model there by --set text.tokenizer.path=PATH."
        )
    return replace(recipe, text=replace(recipe.text, tokenizer=replace(recipe.text.tokenizer, path=path)))
