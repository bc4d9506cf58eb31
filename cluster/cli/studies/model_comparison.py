"""Options and output of studies that pre-train models, fine-tune them on a task, and compare them."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from bitcipher.files import storage
from cluster.cli.interrupts import CHECKPOINTS, resumable
from cluster.metavars import PATH, SETTING

if TYPE_CHECKING:
    from training.comparison.model_comparison import ModelComparison

FinetuningSettings = Annotated[
    list[str] | None,
    typer.Option("--set-finetuning", help="Like --set, for the fine-tuning only.", metavar=SETTING),
]
TaskFolder = Annotated[str, typer.Option("--data", help="Folder of the task's files as published.", metavar=PATH)]
Task = Annotated[str, typer.Option(help="Task of the models; see `bitcipher finetune --help`.")]
Questions = Annotated[
    str | None,
    typer.Option(
        help="Folder of train-v1.1.json and dev-v1.1.json with other questions, such as those of `bitcipher "
        "study cloze-questions make`, to fine-tune on before the task, by default for an epoch.",
        show_default="only the task",
        metavar=PATH,
    ),
]


def print_comparison(
    task: str,
    data: str,
    questions: str | None,
    out: str,
    seeds: int,
    settings: list[str] | None,
    finetuning_settings: list[str] | None,
    workers: int,
    report: "Callable[[ModelComparison], str]",
) -> None:
    """Print the report of a comparison of pre-trained models."""
    from cluster.cli.display.markdown import print_markdown
    from pipelines.runtime.progress import StageProgress
    from training.comparison.model_comparison import ModelComparison

    with resumable(CHECKPOINTS), StageProgress() as progress:
        comparison = ModelComparison(
            task=task,
            data=storage.absolute(data),
            questions=questions and storage.absolute(questions),
            out=storage.absolute(out),
            seeds=seeds,
            settings=settings or (),
            finetuning_settings=finetuning_settings or (),
            workers=workers,
            progress=progress,
        )
        table = report(comparison)
    print_markdown(table)
