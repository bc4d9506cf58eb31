"""Reproduce tables and figures of the papers: `bitcipher reproduce NAME`."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from cluster.cli.commands.evaluate import Seeds
from cluster.cli.dependencies import require_extra
from cluster.cli.interrupts import CHECKPOINTS, resumable
from cluster.cli.options import AlignmentSettings, Settings, Workers, option_name, record_options
from cluster.cli.verbosity import with_verbosity
from cluster.metavars import PATH, SETTING
from pipelines.options import EmbeddingOptions

if TYPE_CHECKING:
    from training.comparison.model_comparison import ModelComparison

Sources = Annotated[list[str], typer.Argument(help="Files, directories or globs of the training text.", metavar=PATH)]
Out = Annotated[
    str,
    typer.Option(
        help="Directory of runs, curves and tables, visible to all workers: new, or of an interrupted command.",
        metavar=PATH,
    ),
]
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
        "cloze-questions`, to fine-tune on before the task, by default for an epoch.",
        show_default="only the task",
        metavar=PATH,
    ),
]

reproduce = typer.Typer(help="Reproduce tables and figures of the papers behind bitcipher.", no_args_is_help=True)


@reproduce.command()
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

    For example: bitcipher reproduce tables build --pos gum --ner conll2003 --out tables
    """
    folders = {"pos": pos, "ner": ner}
    if not any(folders.values()):
        raise BitcipherError("Give --pos, --ner, or both.")
    EmbeddingOptions.parse({"mode": "cat", **option_values}, name=option_name)
    require_extra("training", "`bitcipher reproduce`")
    from cluster.cli.display.console import OUT
    from pipelines.runtime.progress import StageProgress
    from training.evaluation.probes.tasks import read_task

    tasks = [read_task(name, folder) for name, folder in folders.items() if folder]
    from training.studies.bit_cipher.tables import reproduce_tables  # not at the top: the import of torch takes seconds

    with StageProgress() as progress:

        def begin(cells: int) -> Callable[[str], None]:
            bar = progress.begin("cells", cells)
            return lambda name: progress.advance(bar, 1, name)

        page = reproduce_tables(
            builds, tasks, out, range(seeds), begin, cipher_options=option_values, peers=vectors or ()
        )
    OUT.print(f"Tables: {page}. The same directory has their rows in tables.csv and tables.parquet, and the figures.")


@reproduce.command("figure-4")
@with_verbosity
def figure_4(sources: Sources, *, out: Out, seeds: Seeds = 3, settings: Settings = None, workers: Workers = 0) -> None:
    """Train models from random and from cipher embeddings on the same text, and plot their perplexity.

    For example: bitcipher reproduce figure-4 corpus --out figure-4 --seeds 1
    """
    require_extra("training", "`bitcipher reproduce`")
    from cluster.cli.display.markdown import print_markdown
    from pipelines.runtime.progress import StageProgress
    from training.studies.bit_cipher.figures import reproduce_figure_4

    with resumable(CHECKPOINTS), StageProgress() as progress:
        table = reproduce_figure_4(sources, storage.absolute(out), seeds, settings or [], workers, progress)
    print_markdown(table)


@reproduce.command("figure-5")
@with_verbosity
def figure_5(
    sources: Sources,
    *,
    pretraining: Annotated[list[str], typer.Option(help="Text for pre-training. Repeat for several.", metavar=PATH)],
    out: Out,
    seeds: Seeds = 3,
    settings: Settings = None,
    pretraining_settings: Annotated[
        list[str] | None,
        typer.Option("--set-pretraining", help="Like --set, for the pre-training recipes only.", metavar=SETTING),
    ] = None,
    workers: Workers = 0,
) -> None:
    """Fine-tune RoBERTa, T5 and OPT with their own and with cipher embeddings of the target text, and plot their loss.

    For example: bitcipher reproduce figure-5 target --pretraining corpus --out figure-5 --seeds 1
    """
    require_extra("training", "`bitcipher reproduce`")
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


@reproduce.command()
def downscaling(
    evaluations: Annotated[
        str, typer.Argument(help="CSV file of the evaluations that the study's authors published.", metavar=PATH)
    ],
    *,
    out: Annotated[str, typer.Option(help="Directory of fits.md and laws.png.", metavar=PATH)],
) -> None:
    """Fit the power laws of Deshpande et al. 2023, Honey, I Shrunk the Language, to the evaluations of its runs.

    For example: bitcipher reproduce downscaling evaluations.csv --out downscaling
    """
    require_extra("training", "`bitcipher reproduce`")
    from cluster.cli.display.markdown import print_markdown
    from training.studies.downscaling.laws import reproduce_downscaling

    print_markdown(reproduce_downscaling(evaluations, storage.absolute(out)))


@reproduce.command("embedding-sharing")
@with_verbosity
def embedding_sharing(
    sources: Sources,
    *,
    data: TaskFolder,
    out: Out,
    task: Task = "squad2",
    questions: Questions = None,
    seeds: Seeds = 3,
    settings: Settings = None,
    finetuning_settings: FinetuningSettings = None,
    workers: Workers = 0,
) -> None:
    """Compare shared, separate and gradient-disentangled embeddings in replaced-token detection (DeBERTaV3, Table 1).

    For example: bitcipher reproduce embedding-sharing corpus --task cola --data glue/CoLA --out sharing --seeds 1
    """
    require_extra("training", "`bitcipher reproduce`")
    from training.studies.encoders.embedding_sharing import reproduce_embedding_sharing as report

    common = (task, data, questions, out, seeds, settings, finetuning_settings, workers)
    _compare_models(*common, lambda comparison: report(comparison, sources))


@reproduce.command()
@with_verbosity
def encoders(
    sources: Sources,
    *,
    data: TaskFolder,
    out: Out,
    task: Task = "squad2",
    questions: Questions = None,
    seeds: Seeds = 3,
    settings: Settings = None,
    finetuning_settings: FinetuningSettings = None,
    workers: Workers = 0,
) -> None:
    """Compare BERT with static and dynamic masks, RoBERTa, ELECTRA, DeBERTa and DeBERTaV3 of equal size on a task.

    For example: bitcipher reproduce encoders corpus --task cola --data glue/CoLA --out encoders --seeds 1
    """
    require_extra("training", "`bitcipher reproduce`")
    from training.studies.encoders.encoder_comparison import reproduce_encoders as report

    common = (task, data, questions, out, seeds, settings, finetuning_settings, workers)
    _compare_models(*common, lambda comparison: report(comparison, sources))


@reproduce.command()
@with_verbosity
def arcd(
    sources: Sources,
    *,
    other: Annotated[
        list[str],
        typer.Option(help="Text in other languages for the multilingual model. Repeat for several.", metavar=PATH),
    ],
    data: Annotated[str, typer.Option(help="Folder of arcd-train.json and arcd-test.json.", metavar=PATH)],
    out: Out,
    questions: Questions = None,
    seeds: Seeds = 3,
    settings: Settings = None,
    finetuning_settings: FinetuningSettings = None,
    workers: Workers = 0,
) -> None:
    """Compare segmented and whole Arabic words, and a multilingual model, on questions of ARCD (AraBERT's comparison).

    For example: bitcipher reproduce arcd arabic_wiki --other enwiki --data arabic --out arcd --seeds 1
    """
    require_extra("training", "`bitcipher reproduce`")
    from training.studies.arabic.arcd import reproduce_arcd as report

    common = ("arcd", data, questions, out, seeds, settings, finetuning_settings, workers)
    _compare_models(*common, lambda comparison: report(comparison, sources, other))


def _compare_models(
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


@reproduce.command("byte-embeddings")
@with_verbosity
def byte_embeddings(
    run: Annotated[str, typer.Argument(help="Run of `bitcipher train` with a masked objective.", metavar=PATH)],
    *,
    text: Annotated[
        list[str], typer.Option(help="Source of text to evaluate on. Repeat for several texts.", metavar=PATH)
    ],
    out: Annotated[
        str,
        typer.Option(help="Directory of table.md, the figures and the networks: new, or to resume.", metavar=PATH),
    ],
    size: Annotated[
        list[str] | None,
        typer.Option(help="Size of the networks: small or, repeated, both.", show_default="both", metavar="small|big"),
    ] = None,
    loss: Annotated[
        list[str] | None,
        typer.Option(help="Loss of the networks. Repeat for several losses.", show_default="all six", metavar="NAME"),
    ] = None,
    eval_sequences: Annotated[int, typer.Option(min=2, help="Maximum number of examples of each text.")] = 1000,
    settings: AlignmentSettings = None,
) -> None:
    """Replace the embeddings of a BERT by networks over bytes, and compare its accuracy (Rodriguez Perez et al. 2023).

    For example: bitcipher reproduce byte-embeddings runs/bert --text enwiki --out table-2 --size small
    """
    require_extra("training", "`bitcipher reproduce`")
    from cluster.cli.display.markdown import print_markdown
    from pipelines.runtime.progress import StageProgress
    from training.studies.byte_embeddings.options import LOSSES, SIZES

    sizes, losses = (list(dict.fromkeys(chosen)) for chosen in (size or SIZES, loss or LOSSES))
    for name, chosen, known in (("size", sizes, SIZES), ("loss", losses, LOSSES)):
        if wrong := next((each for each in chosen if each not in known), None):
            raise BitcipherError(f"There is no {name} {wrong!r} of byte embeddings: choose from {', '.join(known)}.")
    from training.studies.byte_embeddings.reproduction import (
        reproduce_byte_embeddings,  # the import of torch takes seconds
    )

    with resumable("trained networks"), StageProgress() as progress:
        table = reproduce_byte_embeddings(
            storage.absolute(run), text, storage.absolute(out), sizes, losses, settings or [], eval_sequences, progress
        )
    print_markdown(table)
