"""Command that fine-tunes a model on a task: `finetune`."""

import json
import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.redaction import redact
from bitcipher.terminal import print_text
from cluster.cli.dependencies import require_extra
from cluster.cli.interrupts import CHECKPOINTS, resumable
from cluster.cli.options import ConcurrentTrials, GpusPerTrial, ModelFolder, Settings, Workers
from cluster.cli.verbosity import with_verbosity
from cluster.metavars import PATH

if TYPE_CHECKING:
    from training.runs.launch.finetuning import FinetuningResult
    from training.search.finetuning_grid.results import GridResults


@with_verbosity
def finetune(
    model: ModelFolder,
    *,
    task: Annotated[
        str,
        typer.Option(
            help="Task of GLUE, SQuAD, ARCD (Arabic questions), named entities, or classes of texts.",
            metavar="cola|sst2|mrpc|stsb|qnli|rte|wnli|qqp|mnli|mnli-mm|squad|squad2|arcd|entities|classes",
        ),
    ],
    data: Annotated[
        str,
        typer.Option(
            help="Folder of the task's files as published: train.tsv and dev.tsv (GLUE), train-v1.1.json and "
            "dev-v1.1.json (squad), train-v2.0.json and dev-v2.0.json (squad2), arcd-train.json and arcd-test.json "
            "(arcd), eng.train and eng.testa (CoNLL-2003), or tables train.* and dev.*, such as train.tsv, with the "
            "columns text and label (classes).",
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
    grid: Annotated[
        list[str] | None,
        typer.Option(
            help="Fine-tune once for each value of this option, such as 'loop.learning_rate=[1.0e-4, 3.0e-4]', and "
            "rank the values by score. Repeat it for all combinations of several options.",
            show_default="one run",
            metavar="NAME=VALUES",
        ),
    ] = None,
    max_concurrent_trials: ConcurrentTrials = 0,
    gpus: GpusPerTrial = 0,
) -> None:
    """Fine-tune a pre-trained model on a task, and print its scores. Re-run the same command to resume.

    With --grid, fine-tunes with each combination of the given options, and writes a table of scores (trials.md,
    trials.json). --grid 'seed=[1, 2, 3]' repeats each combination with these seeds, and averages their scores.

    For example: bitcipher finetune runs/random-1 --task entities --data conll2003 --out runs/entities
    """
    require_extra("training", "`bitcipher finetune`")
    from pipelines.runtime.progress import StageProgress
    from training.runs.launch.finetuning import launch_finetuning
    from training.search.finetuning_grid.grid import launch_grid
    from training.search.finetuning_grid.options import GridOptions
    from training.search.trials import TrialResources
    from training.tasks.finetuning.options import make_finetune_options

    values = {"model": model, "task": task, "data": data, "vocabulary": vocabulary, "random_init": random_init}
    options, folder = make_finetune_options({**values, "seed": seed}, settings or []), storage.absolute(out)
    resources = TrialResources(max_concurrent_trials, gpus)
    if grid and workers:
        raise BitcipherError("`--workers` is for one run; use `--max-concurrent-trials` with `--grid`.")
    if max_concurrent_trials and not grid:
        raise BitcipherError("`--max-concurrent-trials` is for several runs; use `--workers`, or add `--grid`.")
    if not grid:
        with resumable(CHECKPOINTS), StageProgress() as progress:
            result = launch_finetuning(options, folder, workers, progress)
        _print_run(result)
        return
    grid_options = GridOptions(finetuning=options, grid=tuple(grid))
    with resumable(CHECKPOINTS), StageProgress() as progress:
        results = launch_grid(grid_options, folder, resources, progress)
    _print_grid(results, folder)


def _print_run(result: "FinetuningResult") -> None:
    from cluster.cli.display.console import OUT

    for remark in result.remarks:
        print_text(remark)
    for name, value in result.scores.items():
        print_text(f"{name} {value:.2f}" + (" (main metric)" if name == result.main_metric else ""))
    for name, scores in result.baselines.items():
        print_text(f"Baseline {name}: {result.main_metric} {scores[result.main_metric]:.2f}")
    OUT.print(
        f"The run is in {redact(result.folder)}: metrics.jsonl, predictions.json, and the model in {result.model_name}."
    )


def _print_grid(results: "GridResults", folder: str) -> None:
    from cluster.cli.display.console import OUT
    from cluster.cli.display.markdown import print_markdown
    from training.search.finetuning_grid.results import format_results

    print_markdown(format_results(results))
    best = results.combinations[0].settings
    # All digits of numbers, so that a run with these options equals the trial.
    texts = (f"{name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in best.items())
    settings = " ".join(f"--set {shlex.quote(text)}" for text in texts)
    print_text(f"Options of the best combination: {settings or 'the defaults'}")
    OUT.print(f"The grid is in {redact(folder)}: trials.md, trials.json, and the runs in trials.")
