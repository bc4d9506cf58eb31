"""Commands that train language models and tell what came of it: `train`, `compare` and `layers`."""

from typing import Annotated

import typer

from cluster.cli.dependencies import require_extra
from cluster.cli.interrupts import TRAINED, resumable
from cluster.cli.options import Workers
from cluster.metavars import NAME_OR_PATH, PATH


def train(
    recipe: Annotated[
        str, typer.Argument(help="YAML file of the run, or the name of one in training/recipes.", metavar=NAME_OR_PATH)
    ],
    *,
    out: Annotated[str, typer.Option(help="Folder of the run, which all workers see.", metavar=PATH)],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="Change an option of the recipe, such as loop.steps=100.", metavar="NAME=VALUE"),
    ] = None,
    prepared: Annotated[
        str | None,
        typer.Option(
            help="Folder of token shards and vectors, which runs share.",
            show_default="prepared, beside --out",
            metavar=PATH,
        ),
    ] = None,
    workers: Workers = 0,
) -> None:
    """Train a language model whose first layer starts from random numbers or cipher vectors. A stopped run goes on.

    For example: bitcipher train figure-4-cold --out runs/cold-1 --set text.sources=[corpus] --set seed=1
    """
    require_extra("training", "`bitcipher train`")
    from pipelines.runtime.progress import StageProgress
    from training.launch.pretraining import train
    from training.launch.run_dir import local_folder
    from training.recipe import find_recipe, read_recipe

    folder = local_folder(out)
    shared = local_folder(prepared) if prepared else folder.parent / "prepared"
    with resumable(TRAINED), StageProgress() as progress:
        train(read_recipe(find_recipe(recipe), settings or []), folder, shared, workers, progress)
    print(f"{folder} holds the run: metrics.jsonl, and the model in its newest checkpoint.")


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(
            help="Folders of runs, whether they have ended or not; the first is the one to beat.", metavar=PATH
        ),
    ],
    *,
    out: Annotated[
        str, typer.Option(help="Folder of curves.png, curves.html and table.md, which are written anew.", metavar=PATH)
    ],
) -> None:
    """Draw runs side by side, and tell how much sooner they are where the first one ends.

    Runs of one recipe that differ in their seeds are drawn as one curve with its spread.
    For example: bitcipher compare runs/cold-1 runs/warm-1 --out comparison
    """
    require_extra("training", "`bitcipher compare`")
    from training.curves.compare import compare
    from training.launch.run_dir import local_folder

    print(compare([local_folder(run) for run in runs], out), end="")


def layers(
    run: Annotated[str, typer.Argument(help="Folder of a run.", metavar=PATH)],
    *,
    out: Annotated[
        str, typer.Option(help="Folder of layers.png, layers.csv and layers.parquet, written anew.", metavar=PATH)
    ],
    classes: Annotated[int, typer.Option(min=2, help="Tokens to tell apart: the most frequent ones.")] = 100,
    sequences: Annotated[int, typer.Option(min=1, help="Of the text, to train on and as many held out.")] = 256,
    task: Annotated[
        str | None, typer.Option(help="Linear probes too. pos: part of speech; ner: entities.", show_default="none")
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(help="Folder of its corpus: GUM in CoNLL-U for pos, CoNLL-2003 for ner.", metavar=PATH),
    ] = None,
) -> None:
    """Show what each layer tells apart at each checkpoint of a run: tokens to predict, and labels of words.

    Train with --set loop.keep_checkpoints=0 to keep all checkpoints.
    For example: bitcipher layers runs/cold-1 --out layers
    """
    from bitcipher.errors import BitcipherError

    if (task is None) != (data is None):
        raise BitcipherError("A linear probe needs a task and its corpus: give --task and --data, or neither.")
    require_extra("training", "`bitcipher layers`")
    from pipelines.runtime.progress import StageProgress
    from training.launch.run_dir import local_folder
    from training.layer_analysis.report import show_layers

    with StageProgress() as progress:
        show_layers(local_folder(run), out, classes, sequences, (task, data) if task and data else None, progress)
    print(f"{out} holds layers.png, layers.csv and layers.parquet.")
