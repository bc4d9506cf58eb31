"""Arabic words with and without segmentation (AraBERT)."""

from typing import Annotated

import typer

from cluster.cli.command_groups import group
from cluster.cli.commands.evaluate import Seeds
from cluster.cli.dependencies import require_extra
from cluster.cli.options import RunsFolder, Settings, TrainingText, Workers
from cluster.cli.studies.model_comparison import FinetuningSettings, Questions, print_comparison
from cluster.cli.verbosity import with_verbosity
from cluster.metavars import PATH

arabic = group(__doc__)


@arabic.command()
@with_verbosity
def arcd(
    sources: TrainingText,
    *,
    other: Annotated[
        list[str],
        typer.Option(help="Text in other languages for the multilingual model. Repeat for several.", metavar=PATH),
    ],
    data: Annotated[str, typer.Option(help="Folder of arcd-train.json and arcd-test.json.", metavar=PATH)],
    out: RunsFolder,
    questions: Questions = None,
    seeds: Seeds = 3,
    settings: Settings = None,
    finetuning_settings: FinetuningSettings = None,
    workers: Workers = 0,
) -> None:
    """Compare segmented and whole Arabic words, and a multilingual model, on questions of ARCD (AraBERT's comparison).

    For example: bitcipher study arabic arcd arabic_wiki --other enwiki --data arabic --out arcd --seeds 1
    """
    require_extra("training", "`bitcipher study arabic`")
    from training.studies.arabic.arcd import reproduce_arcd as report

    common = ("arcd", data, questions, out, seeds, settings, finetuning_settings, workers)
    print_comparison(*common, lambda comparison: report(comparison, sources, other))
