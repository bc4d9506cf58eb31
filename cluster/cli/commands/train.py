"""Commands that train models and analyze training runs: `train` and `compare`."""

from typing import Annotated

import typer

from bitcipher.redaction import redact
from bitcipher.terminal import print_text
from cluster.cli.dependencies import require_extra
from cluster.cli.interrupts import CHECKPOINTS, resumable
from cluster.cli.options import AsJson, Settings, Workers
from cluster.cli.verbosity import with_verbosity
from cluster.metavars import NAME_OR_PATH, PATH


@with_verbosity
def train(
    recipe: Annotated[str, typer.Argument(help="YAML file, or name of a built-in recipe.", metavar=NAME_OR_PATH)],
    *,
    out: Annotated[str, typer.Option(help="Folder of the run: a path that all workers share, or a URI.", metavar=PATH)],
    settings: Settings = None,
    prepared: Annotated[
        str | None,
        typer.Option(
            help="Folder of tokenized text and vectors, which several runs can share.",
            show_default="prepared, next to --out",
            metavar=PATH,
        ),
    ] = None,
    workers: Workers = 0,
) -> None:
    """Train a language model from random or cipher embeddings. Re-run the same command to resume.

    For example: bitcipher train causal --out runs/random-1 --set text.sources=[corpus] --set seed=1
    """
    require_extra("training", "`bitcipher train`")
    from bitcipher import pretrain
    from cluster.cli.display.console import OUT
    from cluster.cli.display.markdown import print_markdown

    with resumable(CHECKPOINTS):
        result = pretrain(recipe, out, settings=settings or [], prepared=prepared, workers=workers)
    for remark in result.remarks:
        print_text(remark)
    if result.text_pairs:
        print_markdown(result.text_pairs.markdown())
    OUT.print(f"The run is in {redact(result.folder)}: metrics.jsonl, and the model in {result.model_name}.")


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(help="Folders of runs, finished or not; the first is the baseline.", metavar=PATH),
    ],
    *,
    out: Annotated[
        str, typer.Option(help="Folder for curves.png, lead.png, curves.html and table.md; overwritten.", metavar=PATH)
    ],
    as_json: AsJson = False,
) -> None:
    """Plot runs side by side, and report their lead over the first.

    The lead is how many times as many tokens the first run needs for the same perplexity.

    Runs of one recipe with different seeds are plotted as one curve, with a band from the minimum to the maximum.
    For example: bitcipher compare runs/random-1 runs/cipher-1 --out comparison
    """
    require_extra("training", "`bitcipher compare`")
    from cluster.cli.display.markdown import print_markdown
    from cluster.cli.display.result import print_result
    from training.comparison.curves.comparison import compare_runs

    comparison = compare_runs(runs, out)
    groups = {"groups": comparison.summaries()}
    print_result(groups, as_json, lambda: print_markdown(comparison.markdown()))
