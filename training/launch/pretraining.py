"""Launcher of a pre-training run: prepare text and vectors, then train."""

from bitcipher import storage
from bitcipher.errors import BitcipherError
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.runtime import open_runtime
from training.file_digests import check_stored_digests
from training.launch.run_dir import launch, leasing_run_dir, prepare_run_dir
from training.launch.run_result import RunResult, find_state, read_run_result
from training.prepare import name_sources, prepare_text, prepare_vectors
from training.recipe import Recipe
from training.run_files import CONFIG, TOKENIZER


def launch_pretraining(
    recipe: Recipe, folder: str, prepared: str, n_workers: int, progress: StageProgress
) -> RunResult:
    """Train the model of a recipe, or resume an interrupted run.

    Args:
        recipe: options of the run.
        folder: path or URI of the run, which all workers share.
        prepared: path or URI of the folder of token shards and vectors, which runs and workers share.
        n_workers: number of Ray workers; 0 trains in this process.
        progress: progress bars.

    Raises:
        BitcipherError: if the folder holds a run of another recipe, another job is running in it, or the recipe is
            invalid.
    """
    recipe.loop.micro_batch_size_for(max(n_workers, 1))
    recipe = with_tokenizer_of_checkpoint(recipe)
    values = {"recipe": recipe.to_dict()}
    sources = name_sources(recipe.text)  # before a folder is made, because sources can be missing
    with leasing_run_dir(folder, CONFIG):
        prepare_run_dir(folder, CONFIG, values)
        before = find_state(folder)
        with open_runtime(n_workers) as runtime:
            text = prepare_text(recipe.text, prepared, runtime, progress)
            vectors = prepare_vectors(recipe, text, prepared, runtime, progress)
        from training.pretrain import pretrain  # not at the top: the import of torch takes seconds

        config = {**values, "text": text, "vectors": vectors, "sources": sources}
        launch(folder, CONFIG, pretrain, config, lambda: recipe.loop.max_steps, n_workers, recipe.loop.device, progress)
    return read_run_result(folder, recipe.loop, before)


def with_tokenizer_of_checkpoint(recipe: Recipe) -> Recipe:
    """Return the recipe with the tokenizer of its checkpoint, unless the recipe names another tokenizer.

    Raises:
        BitcipherError: if the checkpoint has no tokenizer, or a damaged one.
    """
    if recipe.model.checkpoint is None:
        return recipe
    # Workers have other working directories.
    checkpoint = storage.absolute(recipe.model.checkpoint)
    recipe = recipe.copy_with(model=recipe.model.copy_with(checkpoint=checkpoint))
    if recipe.text.tokenizer.path is not None:
        return recipe
    path = storage.join(checkpoint, TOKENIZER)
    if not storage.exists(path):
        raise BitcipherError(
            f"There is no {TOKENIZER} in {checkpoint}; set `model.checkpoint` to a run, or `text.tokenizer.path` to "
            "the tokenizer of the model."
        )
    check_stored_digests(checkpoint, [TOKENIZER])
    return recipe.copy_with(text=recipe.text.copy_with(tokenizer=recipe.text.tokenizer.copy_with(path=path)))
