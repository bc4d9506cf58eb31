"""Command that fine-tunes a model on a task: `finetune`."""

from typing import Annotated

import typer

from bitcipher.redaction import redact
from bitcipher.terminal import print_text
from cluster.cli.dependencies import require_extra
from cluster.cli.interrupts import CHECKPOINTS, resumable
from cluster.cli.options import ModelFolder, Settings, Workers
from cluster.cli.verbosity import with_verbosity
from cluster.metavars import PATH


@with_verbosity
def finetune(
    model: ModelFolder,
    *,
    task: Annotated[
        str,
        typer.Option(
            help="Task of GLUE, SQuAD, named entities, or classes of texts.",
            metavar="cola|sst2|mrpc|stsb|qnli|rte|wnli|squad|squad2|entities|classes",
        ),
    ],
    data: Annotated[
        str,
        typer.Option(
            help="Folder of the task's files as published: train.tsv and dev.tsv (GLUE), train-v1.1.json and "
            "dev-v1.1.json (squad), train-v2.0.json and dev-v2.0.json (squad2), eng.train and eng.testa (CoNLL-2003), "
            "or tables train.* and dev.*, such as train.tsv and dev.jsonl, with the columns text and label (classes).",
            metavar=PATH,
        ),
    ],
    out: Annotated[str, typer.Option(help="Folder of the run: a path that all workers share, or a URI.", metavar=PATH)],
    settings: Settings = None,
    vocabulary: Annotated[
        str | None,
        typer.Option(
            help="Use only GLUE examples whose words are all in this file, one word per line.",
            show_default="all examples",
            metavar=PATH,
        ),
    ] = None,
    random_init: Annotated[
        bool, typer.Option("--random-init", help="Start from random weights, as a baseline without pre-training.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of the head, the order of the examples and dropout.")] = 1,
    workers: Workers = 0,
) -> None:
    """Fine-tune a pre-trained model on a task, and print its scores. Re-run the same command to resume.

    For example: bitcipher finetune runs/random-1 --task entities --data conll2003 --out runs/entities
    """
    require_extra("training", "`bitcipher finetune`")
    from cluster.cli.display.console import OUT
    from training import finetune as finetune_model

    with resumable(CHECKPOINTS):
        result = finetune_model(
            model,
            task,
            data,
            out,
            settings=settings or [],
            vocabulary=vocabulary,
            random_init=random_init,
            seed=seed,
            workers=workers,
        )
    for remark in result.remarks:
        print_text(remark)
    for name, value in result.scores.items():
        print_text(f"{name} {value:.2f}" + (" (main metric)" if name == result.main_metric else ""))
    for name, scores in result.baselines.items():
        print_text(f"Baseline {name}: {result.main_metric} {scores[result.main_metric]:.2f}")
    OUT.print(
        f"The run is in {redact(result.folder)}: metrics.jsonl, predictions.json, and the model in {result.model_name}."
    )
