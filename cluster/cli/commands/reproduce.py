"""Commands that make the paper's results again: `reproduce tables`, `figure-4` and `figure-5`."""

from collections.abc import Callable
from typing import Annotated

import typer

from bitcipher.errors import BitcipherError
from cluster.cli.commands.evaluate import Seeds
from cluster.cli.dependencies import require
from cluster.cli.interrupts import TRAINED, resumable
from cluster.cli.options import PATH, Workers

Sources = Annotated[
    list[str], typer.Argument(help="Files, folders or globs of the text that models are trained on.", metavar=PATH)
]
Out = Annotated[
    str,
    typer.Option(help="Folder of runs, curves and tables, which all workers see; finished runs stay.", metavar=PATH),
]
Runs = Annotated[int, typer.Option(min=1, help="Runs of each; more tell the spread better.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", help="Change an option of all recipes, such as loop.steps=100.", metavar="NAME=VALUE"),
]

reproduce = typer.Typer(help="Make the paper's results again.", no_args_is_help=True)


@reproduce.command()
def tables(
    builds: Annotated[
        list[str], typer.Argument(help="Builds with counts of radius 4: a row of each table each.", metavar=PATH)
    ],
    out: Annotated[
        str, typer.Option(help="Folder of the tables; finished cells in it are not done again.", metavar=PATH)
    ] = ...,
    pos: Annotated[str | None, typer.Option(help="Folder of GUM in CoNLL-U.", metavar=PATH)] = None,
    ner: Annotated[str | None, typer.Option(help="Folder of CoNLL-2003.", metavar=PATH)] = None,
    seeds: Seeds = 3,
) -> None:
    """Fill the paper's Tables 2 to 7 from kept counts, with the paper's numbers beside.

    For example: bitcipher reproduce tables build --pos gum --ner conll2003 --out tables
    """
    folders = {"pos": pos, "ner": ner}
    if not any(folders.values()):
        raise BitcipherError("Say what to probe on: --pos, --ner, or both.")
    require("A probe", "torch", "sklearn")
    from pipelines.runtime.progress import StageProgress
    from training.probes import read_task
    from training.reproduce import reproduce_tables

    tasks = [read_task(name, folder) for name, folder in folders.items() if folder]
    with StageProgress() as progress:

        def begin(cells: int) -> Callable[[str], None]:
            bar = progress.begin("cells", cells)
            return lambda name: progress.advance(bar, 1, name)

        page = reproduce_tables(builds, tasks, out, range(seeds), begin)
    print(f"The tables are in {page}; as rows in tables.csv and tables.parquet beside it.")


@reproduce.command("figure-4")
def figure_4(
    sources: Sources, out: Out = ..., seeds: Runs = 3, settings: Settings = None, workers: Workers = 0
) -> None:
    """Train models that start cold and warm on the same text, and draw their perplexity.

    For example: bitcipher reproduce figure-4 corpus --out figure-4 --seeds 1
    """
    require("Training", "torch", "transformers", "matplotlib")
    from pipelines.runtime.progress import StageProgress
    from training.launch.run_dir import local_folder
    from training.reproduce.figures import reproduce_figure_4

    with resumable(TRAINED), StageProgress() as progress:
        table = reproduce_figure_4(sources, local_folder(out), seeds, settings or [], workers, progress)
    print(table, end="")


@reproduce.command("figure-5")
def figure_5(
    sources: Sources,
    pretraining: Annotated[
        list[str], typer.Option(help="Text that models are pre-trained on; give it again for more.", metavar=PATH)
    ] = ...,
    out: Out = ...,
    seeds: Runs = 3,
    settings: Settings = None,
    pretraining_settings: Annotated[
        list[str] | None,
        typer.Option("--set-pretraining", help="The same for the recipes of pre-training alone.", metavar="NAME=VALUE"),
    ] = None,
    workers: Workers = 0,
) -> None:
    """Fine-tune RoBERTa, T5 and OPT as usual and with cipher tables of the target text, and draw their loss.

    For example: bitcipher reproduce figure-5 target --pretraining corpus --out figure-5 --seeds 1
    """
    require("Training", "torch", "transformers", "matplotlib")
    from pipelines.runtime.progress import StageProgress
    from training.launch.run_dir import local_folder
    from training.reproduce.figures import reproduce_figure_5

    with resumable(TRAINED), StageProgress() as progress:
        table = reproduce_figure_5(
            pretraining,
            sources,
            local_folder(out),
            seeds,
            settings or [],
            pretraining_settings or [],
            workers,
            progress,
        )
    print(table, end="")
