"""Pre-training of a recipe: prepare text and vectors, then train."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.files.file_digests import check_stored_digests
from pipelines.ingest.sources import check_target
from pipelines.runtime.open_runtime import open_runtime
from pipelines.runtime.progress import StageProgress
from training.evaluation.text_pairs.scores import SCORES, TextPairScores, check_scoring
from training.loop.checkpoint_folders import TrainingState
from training.loop.file_names import CONFIG, TOKENIZER
from training.loop.trackers.open_trackers import check_trackers
from training.runs.launch.run_dir import (
    check_run,
    default_prepared,
    has_results,
    launch,
    leasing_run_dir,
    prepare_run_dir,
)
from training.runs.launch.run_result import RunResult, find_state, is_trained, read_run_result
from training.runs.prepare.examples import check_sources, prepare_examples
from training.runs.prepare.recipe_inputs import RecipeInputs
from training.runs.prepare.vectors import prepare_vectors
from training.runs.recipe import Recipe, make_recipe


def pretrain(
    recipe: str | os.PathLike[str] | Mapping[str, Any],
    out: str | os.PathLike[str],
    *,
    settings: Sequence[str] = (),
    prepared: str | os.PathLike[str] | None = None,
    workers: int = 0,
) -> RunResult:
    r"""Pre-train the language model of a recipe, as `bitcipher train` does. Call it again to resume.

    Args:
        recipe: name of a shipped recipe, path or URI of a YAML file, or options by group, as in YAML.
        out: path or URI of the folder of the run, which all workers share.
        settings: changes of options, such as "loop.max_steps=100"; values are YAML.
        prepared: path or URI of the folder of tokenized text and vectors, which several runs can share; by default
            `prepared`, next to `out`.
        workers: number of Ray workers; 0 trains in this process.

    Returns:
        Folder, model and metrics of the run.

    Raises:
        BitcipherError: if an option is invalid, a source is missing, the folder holds a run of another recipe, another
            job is running in it, or the loss is not finite.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from bitcipher import pretrain
    >>> model = {"architecture": "gpt2", "num_hidden_layers": 1, "hidden_size": 16, "max_position_embeddings": 16}
    >>> recipe = {"model": model, "objective": {"name": "causal"}, "loop": {"max_steps": 2, "batch_size": 4}}
    >>> with TemporaryDirectory() as folder:
    ...     text = Path(folder, "birds.txt")
    ...     _ = text.write_text("".join(f"{number} birds sat on a wire.\n" for number in range(400)))
    ...     settings = [f"text.sources=[{text}]", "text.tokenizer.vocab_size=300", "text.validation_fraction=0.1"]
    ...     result = pretrain(recipe, f"{folder}/run", settings=settings)
    >>> Path(result.checkpoint).name, result.metrics["step"], result.stopped_early
    ('00000002', 2.0, False)
    """
    values = recipe if isinstance(recipe, Mapping) else os.fspath(recipe)
    options, folder = make_recipe(values, settings), storage.absolute(os.fspath(out))
    prepared_folder = storage.absolute(os.fspath(prepared)) if prepared else default_prepared(folder)
    with StageProgress() as progress:
        return launch_pretraining(options, folder, prepared_folder, workers, progress)


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
    check_trackers(recipe.loop.report_to)
    if recipe.text_pairs is not None:
        check_scoring()
    recipe = with_tokenizer_of_checkpoint(recipe)
    values = {"recipe": recipe.to_dict()}
    if not has_results(folder):  # before a folder is made, because files can be missing
        check_inputs(recipe, folder, prepared)
    with leasing_run_dir(folder, CONFIG):
        before = find_state(folder)
        with open_runtime(n_workers) as runtime:
            inputs = RecipeInputs(recipe, runtime)
            state = check_run(folder, CONFIG, values, inputs, progress, is_finished=is_trained(before, recipe.loop))
            if state == "inputs gone":
                return _read_finished(recipe, folder, before)
            values = prepare_run_dir(folder, CONFIG, values, inputs)
            text = prepare_examples(recipe, prepared, runtime, progress, inputs.sources)
            vectors = prepare_vectors(recipe, text, prepared, runtime, progress)
        from training.runs.pretraining_run import run_pretraining  # not at the top: the import of torch takes seconds

        config = {**values, "text": text, "vectors": vectors, "sources": check_sources(recipe)}
        loop = recipe.loop
        launch(folder, CONFIG, run_pretraining, config, lambda: loop.max_steps, n_workers, loop.device, progress)
        result = read_run_result(folder, loop, before)
        if recipe.text_pairs is None:
            return result
        from training.evaluation.text_pairs.evaluation import score_run

        return result.copy_with(
            text_pairs=score_run(folder, text, recipe.loop.device, recipe.model.max_position_embeddings, progress)
        )


def _read_finished(recipe: Recipe, folder: str, before: TrainingState | None) -> RunResult:
    """Return the result of a run that has ended, without its inputs."""
    result = read_run_result(folder, recipe.loop, before)
    if recipe.text_pairs is None:
        return result
    return result.copy_with(text_pairs=TextPairScores.read(storage.join(folder, SCORES)))


def check_inputs(recipe: Recipe, *targets: str) -> None:
    """Check that the sources and the tokenizer of a recipe exist, and that no folder of sources holds a target.

    Args:
        recipe: options of the run, from `with_tokenizer_of_checkpoint`.
        targets: folders that the command writes.

    Raises:
        BitcipherError: if a source is missing, a target is in a folder of sources, or the checkpoint has no tokenizer,
            or a damaged one.
    """
    for target in targets:
        check_target([*recipe.text.sources, *recipe.text.validation_sources], target)
    checkpoint = recipe.model.checkpoint
    if checkpoint is not None and recipe.text.tokenizer.path == storage.join(checkpoint, TOKENIZER):
        if not storage.exists(storage.join(checkpoint, TOKENIZER)):
            raise BitcipherError(
                f"There is no {TOKENIZER} in {checkpoint}; set `model.checkpoint` to a run, or `text.tokenizer.path` "
                "to the tokenizer of the model."
            )
        check_stored_digests(checkpoint, [TOKENIZER])
    check_sources(recipe)


def with_tokenizer_of_checkpoint(recipe: Recipe) -> Recipe:
    """Return the recipe with the tokenizer of its checkpoint, unless the recipe names another tokenizer."""
    if recipe.model.checkpoint is None:
        return recipe
    # Workers have other working directories.
    checkpoint = storage.absolute(recipe.model.checkpoint)
    recipe = recipe.copy_with(model=recipe.model.copy_with(checkpoint=checkpoint))
    if recipe.text.tokenizer.path is not None:
        return recipe
    path = storage.join(checkpoint, TOKENIZER)
    return recipe.copy_with(text=recipe.text.copy_with(tokenizer=recipe.text.tokenizer.copy_with(path=path)))
