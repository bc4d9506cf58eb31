"""A fine-tuning run, on one worker among others: the model with its head, the task's rows, and the loop."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer
from transformers import PreTrainedConfig

from bitcipher import storage
from bitcipher.errors import BitcipherError
from bitcipher.vectors import CipherVectors
from training.data import load_tokenizer, special_tokens, vocabulary_size
from training.embeddings import FreezeSchedule, freeze_all_but_table, install_table, token_table
from training.finetune.evaluator import Evaluator, readable
from training.finetune.examples import TaskExamples, with_targets
from training.finetune.heads import TaskModel, positions_of, task_model
from training.finetune.losses import LOSSES
from training.finetune.options import FinetuneOptions
from training.finetune.task_files import open_task
from training.loop import TrainingRun, World, model_folder, run_loop
from training.models import architecture_of
from training.pretrain import START, TOKENIZER
from training.settings import make_record
from training.tasks.base import Task
from training.tasks.encoder import Encoder

CONFIG = "finetune.json"
NOTES = "task.json"
PREDICTIONS = "predictions.json"

# Tokens of a row, unless told otherwise: as BERT has it for SQuAD. Batches are padded to their own longest row only.
LENGTH = 384


def finetune(config: dict[str, Any], advance: Callable[[int, str], None] = lambda step, note: None) -> None:
    """Fine-tune as options say: `metrics.jsonl`, checkpoints, and in the end predictions.

    Called on every worker.

    Args:
        config: `options` (plain values of `FinetuneOptions`) and `folder` (of the run).
        advance: called with the steps that are done and a note on them.
    """
    options, folder = make_record(FinetuneOptions, config["options"], "Fine-tuning"), Path(config["folder"])
    task = open_task(options.task, options.data, options.vocabulary)
    tokenizer = _tokenizer_of(options.model)
    made = _make_model(options, task, tokenizer, folder)
    encoder = make_encoder(made.model.config, tokenizer, options.length)
    train, validation = with_targets(task.features("train", encoder)), task.features("validation", encoder)
    loop = options.loop_for(len(train))
    judge = Evaluator(task, validation, loop)
    job = TrainingRun(
        model=made.model,
        objective=LOSSES[task.kind],
        examples=TaskExamples(train, validation, options.seed),
        options=loop,
        table=FreezeSchedule(options.embeddings),
        seed=options.seed,
        folder=folder,
        tokens_per_step=loop.batch * encoder.length,
        judge=judge,
    )
    world = World.here(loop.device)
    if world.rank == 0:
        with storage.reading(storage.join(options.model, TOKENIZER)) as stream:
            (folder / TOKENIZER).write_bytes(stream.read())
        notes = {
            "task": task.name,
            "main_figure": task.main_figure,
            "labels": task.labels,
            "rows": {"train": len(train), "validation": len(validation)},
            "steps": loop.steps,
            "new_weights": made.new,
            "remarks": [*task.remarks, *train.remarks, *validation.remarks, *_remarks(made, options)],
        }
        storage.write_json(str(folder / NOTES), notes)
    run_loop(job, world, advance)
    # A run that had ended before was not evaluated again.
    predictions = judge.last if judge.last is not None else judge.predictions(made.model, world)
    if world.rank == 0:
        content = {
            "scores": task.score(predictions),
            "baselines": {name: task.score(guesses) for name, guesses in task.baselines().items()},
            "predictions": readable(task, predictions),
        }
        storage.write_json(str(folder / PREDICTIONS), content)


def make_encoder(config: PreTrainedConfig, tokenizer: Tokenizer, length: int | None) -> Encoder:
    """Texts as the model's family wants them.

    Args:
        config: of the model.
        tokenizer: its own.
        length: of a row; None for as many tokens as the model reads, and `LENGTH` at most.

    Raises:
        BitcipherError: if the model does not read rows of this length.
    """
    most = positions_of(config)
    if length is not None and most is not None and length > most:
        raise BitcipherError(f"The model reads rows of {most} tokens at most: set length to that, not to {length}.")
    return Encoder(
        tokenizer,
        special_tokens(tokenizer),
        length or min(LENGTH, most or LENGTH),
        double_end=architecture_of(config) == "roberta",
        token_types=config.model_type == "bert",
    )


def _tokenizer_of(model: str) -> Tokenizer:
    path = storage.join(model, TOKENIZER)
    if not storage.exists(path):
        raise BitcipherError(
            f"There is no {TOKENIZER} in {model}: name a run of `bitcipher train`, or put that of the model there."
        )
    return load_tokenizer(path)


def _make_model(options: FinetuneOptions, task: Task, tokenizer: Tokenizer, folder: Path) -> TaskModel:
    source = model_folder(options.model)
    specials, vocabulary = special_tokens(tokenizer), vocabulary_size(tokenizer)
    made = task_model(source, task, specials, vocabulary, options.seed, random=options.random)
    if options.embeddings.vectors is not None:
        table = token_table(CipherVectors.load(options.embeddings.vectors), tokenizer)
        installed = install_table(made.model, table, options.embeddings)
        (folder / START).write_text(json.dumps(asdict(installed)), "utf-8")
    if options.embeddings.alone:
        freeze_all_but_table(made.model)
    return made


def _remarks(made: TaskModel, options: FinetuneOptions) -> list[str]:
    if not options.random and any("pooler" in name for name in made.new):
        return ["The model has no pooler, as only next-sentence prediction trains one: its weights start at random."]
    return []
