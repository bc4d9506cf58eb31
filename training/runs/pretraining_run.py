"""Pre-training run of a recipe; every worker calls `run_pretraining`."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from transformers import PreTrainedModel

from bitcipher.files import json_files, storage
from bitcipher.files.file_digests import write_digests
from bitcipher.vectors.cipher_vectors import CipherVectors
from pipelines.tokenizers.tokenizer_json import vocab_size
from training.data.special_tokens import special_tokens
from training.data.token_streams import TokenDataset
from training.data.transformers_tokenizer import InputFormat, tokenizer_files
from training.loop.checkpoint_folders import resolve_model_folder
from training.loop.distributed import World
from training.loop.evaluation import evaluate
from training.loop.file_names import CONFIG, EMBEDDING_INIT, RECIPE
from training.loop.optimizer import FreezeSchedule
from training.loop.run_store import opening_run
from training.loop.training_run import TrainingRun, run_loop
from training.models.build import build_model
from training.models.checkpoint import load_model
from training.models.embeddings.embedding_table import token_embeddings
from training.models.embeddings.initialize import init_embeddings, scale_embeddings
from training.models.encoders import traits_of
from training.models.flops import training_flops
from training.models.parts import find_generator, freeze_all_but_embeddings
from training.models.sentence_views import SentenceViewConfig
from training.objectives.base import ExampleInputs, TrainingExamples
from training.runs.recipe import Recipe
from training.runs.run_files import PretrainingConfig


def run_pretraining(values: dict[str, Any], advance: Callable[[int, str], None] = lambda step, note: None) -> None:
    """Train the model of a recipe. Called on every worker.

    Args:
        values: plain values of a `PretrainingConfig`.
        advance: called with the number of completed steps and a note on the losses.
    """
    config = PretrainingConfig.parse(values, CONFIG)
    recipe = config.recipe
    with opening_run(config.folder) as (folder, store):
        text = TokenDataset.open(config.text)
        run = make_training_run(recipe, text, config.vectors, folder, config.sources)
        world = World.current(recipe.loop.device)
        if world.rank == 0:
            files = {RECIPE: recipe.to_yaml().encode(), **run.model_files}
            for name, content in files.items():
                storage.write_bytes(str(folder / name), content)
            write_digests(folder, files)
        run_loop(replace(run, store=store), world, advance)


def make_training_run(
    recipe: Recipe, text: TokenDataset, vectors: str | None, folder: Path, source_names: Mapping[str, str] | None = None
) -> TrainingRun:
    """Build the model of a recipe with its initial weights, and return it with its examples and the loop's options.

    Args:
        recipe: options of the run.
        text: token shards to train on.
        vectors: folder of the vectors of a cipher init, or None.
        folder: folder of the run; with vectors, `embedding_init.json` is written to it.
        source_names: name of each source by its name in token shards, for validation metrics of each source.
    """
    tokens = special_tokens(text.tokenizer)
    n_tokens = vocab_size(text.tokenizer)
    options = recipe.model
    if options.checkpoint is not None:
        options = options.copy_with(checkpoint=resolve_model_folder(options.checkpoint))
    model = build_model(options, tokens, n_tokens, recipe.seed)
    if vectors is not None:
        table = token_embeddings(CipherVectors.load(vectors, verify=True), text.tokenizer)
        report = init_embeddings(model, table, recipe.embeddings)
        # Every worker writes the same file.
        json_files.write(str(folder / EMBEDDING_INIT), report.to_dict())
    else:
        scale_embeddings(model, recipe.embeddings.effective_scale)
    if recipe.embeddings.train_embeddings_only:
        freeze_all_but_embeddings(model)
    examples = make_examples(recipe, text, source_names)
    return TrainingRun(
        model=model,
        objective=recipe.make_objective(),
        examples=examples,
        options=recipe.loop,
        freeze_schedule=FreezeSchedule(recipe.embeddings),
        seed=recipe.seed,
        folder=folder,
        tokens_per_sequence=examples.tokens_per_example,
        flops_of_sequence=_flops_of_sequence(model, examples.input_length),
        count_tokens=examples.count_tokens,
        model_files=tokenizer_files(text.tokenizer, _input_format(model, recipe.model.max_position_embeddings)),
    )


def _input_format(model: PreTrainedModel, max_length: int) -> InputFormat:
    """Return the special tokens around the texts that a language model is trained on."""
    config = find_generator(model).config
    config = config.encoder_config() if isinstance(config, SentenceViewConfig) else config
    traits = traits_of(config)
    return InputFormat(traits.kind, max_length, traits.double_end, traits.token_types)


def make_examples(
    recipe: Recipe, text: TokenDataset, source_names: Mapping[str, str] | None = None
) -> TrainingExamples:
    """Return the training and validation examples of a recipe; see `make_training_run` for the arguments."""
    length, batch_size = recipe.model.max_position_embeddings, recipe.loop.batch_size
    return recipe.make_objective().examples(ExampleInputs(text, length, recipe.seed, batch_size, source_names or {}))


def evaluate_run(recipe: Recipe, text: str, folder: str, eval_sequences: int | None = None) -> dict[str, float]:
    """Return the metrics of the latest checkpoint of a run on the validation split of a text.

    Args:
        recipe: recipe whose objective, batches and device are used.
        text: folder of the token shards.
        folder: path or URI of the run.
        eval_sequences: maximum number of sequences; by default that of the recipe.
    """
    world, examples = World.current(recipe.loop.device), make_examples(recipe, TokenDataset.open(text))
    model = load_model(resolve_model_folder(folder)).to(world.device)
    options = recipe.loop if eval_sequences is None else recipe.loop.copy_with(eval_sequences=eval_sequences)
    return evaluate(model, recipe.make_objective(), examples, options, world)


def _flops_of_sequence(model: PreTrainedModel, length: int | None) -> Callable[[float], float] | None:
    """Return a function of the mean number of predictions, or None if FLOPs are not counted, as of a generator."""
    if length is None or find_generator(model) is not model:
        return None
    has_decoder = model.config.is_encoder_decoder  # which reads as many tokens as it predicts
    return lambda predictions: training_flops(
        model.config, length, predictions, round(predictions) if has_decoder else None
    )
