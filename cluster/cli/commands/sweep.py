"""The command that runs a whole study of small models: `sweep`."""

import re
from typing import Annotated

import typer

from bitcipher.errors import BitcipherError
from cluster.cli.dependencies import require
from cluster.cli.interrupts import TRAINED, resumable
from cluster.cli.options import NAME_OR_PATH, PATH

_SECONDS = {"m": 60, "h": 3600, "d": 86400}


def sweep(
    recipe: Annotated[
        str,
        typer.Argument(
            help="YAML file of the study, or the name of one in training/sweep/recipes.", metavar=NAME_OR_PATH
        ),
    ],
    out: Annotated[
        str, typer.Option(help="Folder of the study, which all workers see; what is done in it stays.", metavar=PATH)
    ] = ...,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="Change an option of the recipe, such as downstream.seeds=1.", metavar="NAME=VALUE"),
    ] = None,
    scale: Annotated[
        float | None,
        typer.Option(
            help="Share of the recipe's sequences, such as 0.01; tokens, shapes and seeds shrink with it.",
            show_default="the whole study",
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(help="Shrink it until it takes about so long here: 30m, 2h or 1d.", show_default="no limit"),
    ] = None,
    at_once: Annotated[
        int,
        typer.Option(
            min=0,
            help="Trials of Ray Tune at the same time, each on one CPU; 0 runs one after another in this process. "
            "In a Ray job, or with RAY_ADDRESS set, they run on that cluster.",
        ),
    ] = 0,
    gpus: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Of trials at once: the share of a GPU that each takes, 0.25 for four on one; 0 leaves GPUs alone.",
        ),
    ] = 0,
) -> None:
    """Run a study of small language models in a small language, and write its report. A stopped one goes on.

    It keeps of a corpus what is in a vocabulary, trains a tokenizer and many small RoBERTas on it, fine-tunes them on
    GLUE where that is given, and compares: OUT/report/report.html. The same command again runs only what has not ended,
    and with more shapes, seeds or tasks only what is new.

    For example: bitcipher sweep downscaling-small --out study --set sources=[corpus]
    """
    require("A study", "torch", "transformers", "matplotlib", "jinja2", "sklearn")
    from pipelines.runtime.progress import StageProgress
    from training.launch.run_dir import local_folder
    from training.sweep.options import find_study, read_study
    from training.sweep.study import fit_study, run_study
    from training.sweep.tuning import TrialResources

    if scale is not None and budget is not None:
        raise BitcipherError("A budget chooses the scale: give --scale or --budget, not both.")
    folder, places = local_folder(out), TrialResources(at_once, gpus)
    seconds = None if budget is None else _seconds(budget)
    study = fit_study(read_study(find_study(recipe), settings or []), folder, scale, seconds, places)
    with resumable(TRAINED), StageProgress() as progress:
        report = run_study(study, folder, places, progress)
    print(f"{report} tells what was found; its figures and tables lie beside it, and all runs in {folder}.")


def _seconds(text: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([mhd])", text)
    if not found or float(found[1]) == 0:
        raise BitcipherError(f"A budget is a number of minutes, hours or days, such as 30m, 2h or 1d, not {text!r}.")
    return float(found[1]) * _SECONDS[found[2]]
