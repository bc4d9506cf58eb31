"""Tables and figures of Zhao & Williams (2023), Bit Cipher."""

from collections.abc import Callable
from typing import Annotated, Any

import typer

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from cluster.cli.command_groups import group
from cluster.cli.commands.evaluate import Seeds
from cluster.cli.dependencies import require_extra
from cluster.cli.interrupts import CHECKPOINTS, resumable
from cluster.cli.options import RunsFolder, Settings, TrainingText, Workers, option_name, record_options
from cluster.cli.verbosity import with_verbosity
from cluster.metavars import PATH, SETTING
from pipelines.options import EmbeddingOptions

bit_cipher = group(__doc__)


@bit_cipher.command()
@with_verbosity
@record_options(EmbeddingOptions, only={"noise", "noise_over", "log"})
def tables(
    option_values: dict[str, Any],
    builds: Annotated[
        list[str], typer.Argument(help="Builds with a window of 4; each gives one row per table.", metavar=PATH)
    ],
    *,
    out: Annotated[
        str, typer.Option(help="Directory of the tables. Finished table cells are not computed again.", metavar=PATH)
    ],
    pos: Annotated[str | None, typer.Option(help="Directory of GUM (CoNLL-U).", metavar=PATH)] = None,
    ner: Annotated[
        str | None, typer.Option(help="Directory of CoNLL-2003, with or without its test part.", metavar=PATH)
    ] = None,
    seeds: Seeds = 3,
    vectors: Annotated[
        list[str] | None,
        typer.Option(
            help="File or directory of another tool's vectors, for a row of Table 1. Repeat for several.", metavar=PATH
        ),
    ] = None,
) -> None:
    """Compute Tables 1 to 7 and Figures 1 and 3 of Bit Cipher from the counts of builds, next to the published numbers.

    For example: bitcipher study bit-cipher tables build --pos gum --ner conll2003 --out tables
    """
    folders = {"pos": pos, "ner": ner}
    if not any(folders.values()):
        raise BitcipherError("Give --pos, --ner, or both.")
    EmbeddingOptions.parse({"mode": "cat", **option_values}, name=option_name)
    require_extra("training", "`bitcipher study bit-cipher`")
    from cluster.cli.display.console import OUT
    from pipelines.runtime.progress import StageProgress
    from training.evaluation.probes.tasks import read_task

    # Tasks are read before torch is imported, which takes seconds.
    tasks = [read_task(name, folder) for name, folder in folders.items() if folder]
    from training.studies.bit_cipher.tables import reproduce_tables

    with StageProgress() as progress:

        def begin(cells: int) -> Callable[[str], None]:
            bar = progress.begin("cells", cells)
            return lambda name: progress.advance(bar, 1, name)

        page = reproduce_tables(
            builds, tasks, out, range(seeds), begin, cipher_options=option_values, peers=vectors or ()
        )
    OUT.print(f"Tables: {page}. The same directory has their rows in tables.csv and tables.parquet, and the figures.")


@bit_cipher.command("figure-4")
@with_verbosity
def figure_4(
    sources: TrainingText, *, out: RunsFolder, seeds: Seeds = 3, settings: Settings = None, workers: Workers = 0
) -> None:
    """Train models from random and from cipher embeddings on the same text, and plot their perplexity.

    For example: bitcipher study bit-cipher figure-4 corpus --out figure-4 --seeds 1
    """
    require_extra("training", "`bitcipher study bit-cipher`")
    from cluster.cli.display.markdown import print_markdown
    from pipelines.runtime.progress import StageProgress
    from training.studies.bit_cipher.figures import reproduce_figure_4

    with resumable(CHECKPOINTS), StageProgress() as progress:
        table = reproduce_figure_4(sources, storage.absolute(out), seeds, settings or [], workers, progress)
    print_markdown(table)


@bit_cipher.command("figure-5")
@with_verbosity
def figure_5(
    sources: Annotated[list[str], typer.Argument(help="Files, directories or globs of the target text.", metavar=PATH)],
    *,
    pretraining: Annotated[list[str], typer.Option(help="Text for pre-training. Repeat for several.", metavar=PATH)],
    out: RunsFolder,
    seeds: Seeds = 3,
    settings: Settings = None,
    pretraining_settings: Annotated[
        list[str] | None,
        typer.Option("--set-pretraining", help="Like --set, for the pre-training recipes only.", metavar=SETTING),
    ] = None,
    workers: Workers = 0,
) -> None:
    """Fine-tune RoBERTa, T5 and OPT with their own and with cipher embeddings of the target text, and plot their loss.

    For example: bitcipher study bit-cipher figure-5 target --pretraining corpus --out figure-5 --seeds 1
    """
    require_extra("training", "`bitcipher study bit-cipher`")
    from cluster.cli.display.markdown import print_markdown
    from pipelines.runtime.progress import StageProgress
    from training.studies.bit_cipher.figures import reproduce_figure_5

    with resumable(CHECKPOINTS), StageProgress() as progress:
        table = reproduce_figure_5(
            pretraining,
            sources,
            storage.absolute(out),
            seeds,
            settings or [],
            pretraining_settings or [],
            workers,
            progress,
        )
    print_markdown(table)
