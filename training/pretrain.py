"""A recipe's run, on one worker among others: the model with its table, the examples, and the loop."""

import shutil
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from bitcipher import storage
from bitcipher.vectors import CipherVectors
from training.data import TokenText, special_tokens, vocabulary_size
from training.embeddings import FreezeSchedule, freeze_all_but_table, install_table, scale_table, token_table
from training.loop import TextExamples, TrainingRun, World, model_folder, run_loop
from training.models import build_model
from training.objectives import make_objective, word_starts
from training.recipe import Recipe, make_recipe

CONFIG = "run.json"
RECIPE = "recipe.yaml"
START = "start.json"
TOKENIZER = "tokenizer.json"


def pretrain(config: dict[str, Any], advance: Callable[[int, str], None] = lambda step, note: None) -> None:
    """Train what a recipe says; called on every worker.

    Args:
        config: `recipe` (plain values), `text` (folder of token shards), `vectors` (folder, or None) and `folder` (of
            the run).
        advance: called with the steps that are done and a note on them.
    """
    recipe = make_recipe(config["recipe"], "the recipe")
    folder = Path(config["folder"])
    job = make_job(recipe, TokenText.open(config["text"]), config["vectors"], folder)
    world = World.here(recipe.loop.device)
    if world.rank == 0:
        (folder / RECIPE).write_text(recipe.to_yaml(), "utf-8")
        shutil.copyfile(Path(config["text"]) / TOKENIZER, folder / TOKENIZER)
    run_loop(job, world, advance)


def make_job(recipe: Recipe, text: TokenText, vectors: str | None, folder: Path) -> TrainingRun:
    """The model as it starts, and what it is trained on."""
    tokens = special_tokens(text.tokenizer)
    vocabulary = vocabulary_size(text.tokenizer)
    objective = make_objective(**recipe.objective)
    options = recipe.model
    if options.checkpoint is not None:
        options = replace(options, checkpoint=model_folder(options.checkpoint))
    model = build_model(options, tokens, vocabulary, recipe.seed)
    if vectors is not None:
        installed = install_table(model, token_table(CipherVectors.load(vectors), text.tokenizer), recipe.embeddings)
        # By every worker, each at once.
        storage.write_json(str(folder / START), asdict(installed))
    else:
        scale_table(model, recipe.embeddings.table_scale)
    if recipe.embeddings.alone:
        freeze_all_but_table(model)
    starts = word_starts(text.tokenizer) if getattr(objective, "whole_words", False) else None
    examples = TextExamples(text, objective, recipe.model.positions, recipe.seed, tokens, vocabulary, starts)
    tokens_per_step = recipe.loop.batch * objective.text_length(recipe.model.positions)
    return TrainingRun(
        model, objective, examples, recipe.loop, FreezeSchedule(recipe.embeddings), recipe.seed, folder, tokens_per_step
    )
