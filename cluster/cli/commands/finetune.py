"""The command that makes a model for a task of a pre-trained one: `finetune`."""

from typing import Annotated, Any

import typer

from cluster.cli.dependencies import require_extra
from cluster.cli.interrupts import TRAINED, resumable
from cluster.cli.options import Workers
from cluster.metavars import PATH


def finetune(
    model: Annotated[
        str, typer.Argument(help="A run, or a folder of transformers with a tokenizer.json.", metavar=PATH)
    ],
    *,
    task: Annotated[
        str, typer.Option(help="cola, sst2, mrpc, stsb, qnli, rte, wnli (GLUE), squad, squad2 or entities.")
    ],
    data: Annotated[
        str,
        typer.Option(
            help="Folder of its files as published: train.tsv and dev.tsv of GLUE's, train-v1.1.json and dev-v1.1.json "
            "(or v2.0) of SQuAD's, eng.train and eng.testa of CoNLL-2003.",
            metavar=PATH,
        ),
    ],
    out: Annotated[str, typer.Option(help="Folder of the run, which all workers see.", metavar=PATH)],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="Change an option, such as epochs=5 or loop.learning_rate=3e-5.", metavar="NAME=VALUE"
        ),
    ] = None,
    vocabulary: Annotated[
        str | None,
        typer.Option(
            help="Of GLUE: keep only examples whose words are all in this file, one a line.",
            show_default="all examples",
            metavar=PATH,
        ),
    ] = None,
    random: Annotated[
        bool, typer.Option("--random", help="Start from random weights, to see what pre-training was good for.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of the head, the order and dropout.")] = 1,
    workers: Workers = 0,
) -> None:
    """Fine-tune a pre-trained model for a task, and tell how good it is. A stopped run goes on.

    For example: bitcipher finetune runs/cold-1 --task entities --data conll2003 --out runs/entities --set epochs=2
    """
    require_extra("training", "`bitcipher finetune`")
    from pipelines.runtime.progress import StageProgress
    from training.finetune import make_options
    from training.launch.finetuning import finetune_on
    from training.launch.run_dir import local_folder

    values: dict[str, Any] = {"model": model, "task": task, "data": data, "vocabulary": vocabulary}
    options = make_options(values | {"random": random, "seed": seed}, settings or [])
    folder = local_folder(out)
    with resumable(TRAINED), StageProgress() as progress:
        told = finetune_on(options, folder, workers, progress)
    for remark in told["remarks"]:
        print(remark)
    for name, value in told["scores"].items():
        print(f"{name} {value:.2f}" + (" (the task's figure)" if name == told["main_figure"] else ""))
    for name, scores in told["baselines"].items():
        print(f"Without reading, by {name}: {told['main_figure']} {scores[told['main_figure']]:.2f}")
    print(f"{folder} holds the run: metrics.jsonl, predictions.json, and the model in its newest checkpoint.")
