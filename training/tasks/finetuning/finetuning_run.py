"""Fine-tuning run of a model on a task; every worker calls `run_finetuning`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer
from transformers import PreTrainedConfig, PreTrainedModel

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, storage
from bitcipher.files.file_digests import write_digests
from bitcipher.vectors.cipher_vectors import CipherVectors
from pipelines.tokenizers.tokenizer_json import load_tokenizer, vocab_size
from training.data.special_tokens import special_tokens
from training.data.transformers_tokenizer import InputFormat, tokenizer_files
from training.loop.checkpoint_folders import resolve_model_folder
from training.loop.checkpoints import load_weights
from training.loop.distributed import World
from training.loop.file_names import EMBEDDING_INIT
from training.loop.optimizer import FreezeSchedule
from training.loop.run_store import RunStore, opening_run
from training.loop.step import SummedLoss
from training.loop.training_run import TrainingRun, run_loop
from training.models.embeddings.embedding_table import token_embeddings
from training.models.embeddings.initialize import init_embeddings
from training.models.encoders import max_sequence_length, traits_of
from training.models.parts import freeze_all_but_embeddings
from training.tasks.base import Task
from training.tasks.encoder import Encoder
from training.tasks.finetuning.evaluator import Evaluator, describe_predictions
from training.tasks.finetuning.examples import TaskExamples, drop_unlabeled_rows
from training.tasks.finetuning.heads import TaskModel, allow_length, build_task_model
from training.tasks.finetuning.losses import LOSSES
from training.tasks.finetuning.options import FinetuneOptions
from training.tasks.finetuning.run_files import (
    CONFIG,
    PREDICTIONS,
    TASK_INFO,
    FinetuningConfig,
    Predictions,
    TaskInfo,
)
from training.tasks.finetuning.svsl import VariabilityLoss
from training.tasks.finetuning.task_files import find_tokenizer, read_task

# Default maximum number of tokens per row, as for BERT on SQuAD. Batches are padded to their longest row only.
MAX_SEQ_LENGTH = 384


def run_finetuning(values: dict[str, Any], advance: Callable[[int, str], None] = lambda step, note: None) -> None:
    """Fine-tune a model on a task, and write `metrics.jsonl`, checkpoints and predictions. Called on every worker.

    Args:
        values: plain values of a `FinetuningConfig`.
        advance: called with the number of completed steps and a note on the losses.
    """
    config = FinetuningConfig.parse(values, CONFIG)
    with opening_run(config.folder) as (folder, store):
        _finetune(config.options, folder, store, advance)


def _finetune(
    options: FinetuneOptions, folder: Path, store: RunStore | None, advance: Callable[[int, str], None]
) -> None:
    task = read_task(options.task, options.data, options.vocabulary)
    tokenizer = load_tokenizer(find_tokenizer(options.model))
    task_model = build_run_model(options, task, tokenizer, folder)
    encoder = make_encoder(task_model.model.config, tokenizer, options.max_seq_length)
    train, validation = drop_unlabeled_rows(task.features("train", encoder)), task.features("validation", encoder)
    loop = options.loop_for(len(train))
    evaluator = Evaluator(task, validation, loop)
    examples = TaskExamples(train, validation, options.seed, loop.batch_size)
    run = TrainingRun(
        model=task_model.model,
        objective=_find_loss(options, task, task_model.model),
        examples=examples,
        options=loop,
        freeze_schedule=FreezeSchedule(options.embeddings),
        seed=options.seed,
        folder=folder,
        tokens_per_sequence=examples.tokens_per_example,
        count_tokens=examples.count_tokens,
        evaluator=evaluator,
        store=store,
        model_files=tokenizer_files(
            tokenizer, InputFormat("encoder", encoder.length, encoder.double_end, encoder.token_types)
        ),
    )
    world = World.current(loop.device)
    if world.rank == 0:
        for name, content in run.model_files.items():
            storage.write_bytes(str(folder / name), content)
        write_digests(folder, run.model_files)
        info = TaskInfo(
            task=task.name,
            main_metric=task.main_metric,
            labels=tuple(task.labels),
            rows={"train": len(train), "validation": len(validation)},
            max_steps=loop.max_steps,
            new_weights=task_model.new_weights,
            remarks=(*task.remarks, *train.remarks, *validation.remarks, *_remarks(task_model, options)),
        )
        json_files.write(str(folder / TASK_INFO), info.to_dict())
    state = run_loop(run, world, advance)
    if state.model_step != state.step:
        load_weights(resolve_model_folder(run.uri), task_model.model)
        evaluator.latest_predictions = None
    # The loop does not evaluate a run that was already complete.
    predictions = (
        evaluator.latest_predictions
        if evaluator.latest_predictions is not None
        else evaluator.predictions(task_model.model, world)
    )
    if world.rank == 0:
        result = Predictions(
            scores=task.score(predictions),
            baselines={name: task.score(guesses) for name, guesses in task.baselines().items()},
            predictions=describe_predictions(task, predictions),
        )
        json_files.write(str(folder / PREDICTIONS), result.to_dict())
        if store:
            store.upload_files()


def _find_loss(options: FinetuneOptions, task: Task, model: PreTrainedModel) -> SummedLoss:
    """Return the loss of a task.

    Raises:
        BitcipherError: if the model does not have the first layer of SVSL.
    """
    if options.svsl_weight is None:
        return LOSSES[task.kind]
    n_layers = model.config.num_hidden_layers
    if options.svsl_first_layer > n_layers:
        raise BitcipherError(
            f"`svsl_first_layer` must be at most {n_layers}, the number of layers, got {options.svsl_first_layer}."
        )
    return VariabilityLoss(options.svsl_weight, options.svsl_first_layer)


def make_encoder(config: PreTrainedConfig, tokenizer: Tokenizer, max_seq_length: int | None) -> Encoder:
    """Return the encoder of texts in the format of a model's family.

    Args:
        config: configuration of the model, whose limit is raised to `max_seq_length` (see `allow_length`).
        tokenizer: tokenizer of the model.
        max_seq_length: maximum number of tokens per row; by default the limit of the model, at most `MAX_SEQ_LENGTH`.

    Raises:
        BitcipherError: if the model does not read rows of this length.
    """
    if max_seq_length is not None:
        allow_length(config, max_seq_length)
    limit, traits = max_sequence_length(config), traits_of(config)
    return Encoder(
        tokenizer,
        special_tokens(tokenizer),
        max_seq_length or min(MAX_SEQ_LENGTH, limit or MAX_SEQ_LENGTH),
        double_end=traits.double_end,
        token_types=traits.token_types,
    )


def build_run_model(options: FinetuneOptions, task: Task, tokenizer: Tokenizer, folder: Path) -> TaskModel:
    """Return the model of a run with its initial weights; with vectors, write `embedding_init.json` to a folder."""
    source = resolve_model_folder(options.model, options.step)
    special, n_tokens = special_tokens(tokenizer), vocab_size(tokenizer)
    pooling, random_init = options.classifier_pooling, options.random_init
    task_model = build_task_model(
        source, task, special, n_tokens, options.seed, random_init=random_init, classifier_pooling=pooling
    )
    if options.embeddings.vectors is not None:
        table = token_embeddings(CipherVectors.load(options.embeddings.vectors, verify=True), tokenizer)
        report = init_embeddings(task_model.model, table, options.embeddings)
        json_files.write(str(folder / EMBEDDING_INIT), report.to_dict())
    if options.embeddings.train_embeddings_only:
        freeze_all_but_embeddings(task_model.model)
    return task_model


def _remarks(task_model: TaskModel, options: FinetuneOptions) -> list[str]:
    if not options.random_init and any("pooler" in name for name in task_model.new_weights):
        return ["The model has no pooler, which only next-sentence prediction trains; its weights start at random."]
    return []
