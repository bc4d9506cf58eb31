"""Command that runs a study of small models: `sweep`."""

import re
from typing import Annotated

import typer

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.redaction import redact
from cluster.cli.dependencies import require_extra
from cluster.cli.interrupts import CHECKPOINTS, resumable
from cluster.cli.options import ConcurrentTrials, GpusPerTrial, Settings
from cluster.cli.verbosity import with_verbosity
from cluster.metavars import NAME_OR_PATH, PATH

_SECONDS = {"m": 60, "h": 3600, "d": 86400}


@with_verbosity
def sweep(
    recipe: Annotated[
        str,
        typer.Argument(
            help="YAML file of the study, or the name of a built-in study.",
            metavar=NAME_OR_PATH,
        ),
    ],
    *,
    out: Annotated[
        str,
        typer.Option(
            help="Directory or URI of the study, visible to all workers: new, or of a study to resume.", metavar=PATH
        ),
    ],
    settings: Settings = None,
    scale: Annotated[
        float | None,
        typer.Option(
            help="Fraction of the recipe's training sequences, such as 0.01. The numbers of tokens, shapes and seeds "
            "shrink with it.",
            show_default="the whole study",
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            help="Shrink the study to about this time on this machine: 30m, 2h or 1d.", show_default="no limit"
        ),
    ] = None,
    max_concurrent_trials: ConcurrentTrials = 0,
    gpus: GpusPerTrial = 0,
) -> None:
    """Train small language models on a small vocabulary, and write a report. An interrupted study resumes.

    Filters a corpus by a vocabulary, trains a tokenizer and small RoBERTa models of many shapes, fine-tunes them on
    GLUE if the recipe names its folder, and compares them in OUT/report/report.html. Run the command again with more
    shapes, seeds or tasks to run only the additional trials.

    For example: bitcipher sweep downscaling-small --out study --set sources=[corpus]
    """
    require_extra("training", "`bitcipher sweep`")
    from cluster.cli.display.console import OUT
    from pipelines.runtime.progress import StageProgress
    from training.search.trial_executor import TrialResources
    from training.studies.downscaling.sweep.options import find_study, read_study

    if scale is not None and budget is not None:
        raise BitcipherError("Give --scale or --budget, not both: a budget determines the scale.")
    folder, resources = storage.absolute(out), TrialResources(max_concurrent_trials, gpus)
    seconds = None if budget is None else _seconds(budget)
    study = read_study(find_study(recipe), settings or [])
    from training.studies.downscaling.sweep.study import (
        launch_study,  # not at the top: the import of torch takes seconds
    )

    with resumable(CHECKPOINTS), StageProgress() as progress:
        report = launch_study(study, folder, scale, seconds, resources, progress)
    OUT.print(f"Report: {report}, with figures and tables in the same directory. All runs are in {redact(folder)}.")


def _seconds(text: str) -> float:
    """Return the length of a time such as 30m, 2h or 1d."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([mhd])", text)
    if not match or float(match[1]) == 0:
        raise BitcipherError(
            f"`--budget` must be a number of minutes, hours or days such as 30m, 2h or 1d, got {text!r}."
        )
    return float(match[1]) * _SECONDS[match[2]]
