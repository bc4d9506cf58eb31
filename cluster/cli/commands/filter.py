"""The command that makes a reduced language of a corpus: `filter`."""

from typing import Annotated

import typer

from cluster.cli.interrupts import resumable
from cluster.cli.options import PATH, Document, Field, Format, Workers

# Memory of a worker: a document of some megabytes as words, the words that it remembers, and those that it counts.
_WORKER_BYTES = 1500 << 20


def filter(
    sources: Annotated[
        list[str], typer.Argument(help="Files, folders or globs of text, JSON lines, Parquet or WET.", metavar=PATH)
    ],
    out: Annotated[str, typer.Option(help="Folder of the language, new or to go on with.", metavar=PATH)] = ...,
    vocabulary: Annotated[
        str | None,
        typer.Option(
            help="The words to keep: a file with one a line, or a CSV with a column word.",
            show_default="with --top, words of the sources",
            metavar=PATH,
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            help="The most frequent words alone: of the vocabulary, a CSV with a column frequency, or of the sources.",
            show_default="all words of the vocabulary",
        ),
    ] = None,
    level: Annotated[
        str, typer.Option(help="What is kept if all its words are known: spans, sentences or both.")
    ] = "both",
    span: Annotated[int, typer.Option(help="Words of a span.")] = 110,
    stride: Annotated[int, typer.Option(help="Words from the start of a span to that of the next.")] = 30,
    held_out_share: Annotated[
        float, typer.Option(help="Share of documents that are set apart for development, and as many for the test.")
    ] = 0.01,
    unconstrained: Annotated[
        bool, typer.Option(help="Draw as many spans of all words from each source too, as a twin to compare with.")
    ] = True,
    format: Format = None,
    document: Document = None,
    field: Field = None,
    seed: Annotated[int, typer.Option(help="Another one draws another twin.")] = 0,
    workers: Workers = 0,
) -> None:
    """Keep of a corpus what is in a small vocabulary. A stopped command goes on when it is started again.

    For example: bitcipher filter enwiki --vocabulary words.txt --out language
    """
    from cluster.cli.display.filtering import show_language
    from pipelines.filter import FilterOptions, filter_corpus
    from pipelines.runtime.progress import StageProgress
    from pipelines.runtime.runtime import open_runtime

    given = {
        "level": level,
        "span": span,
        "stride": stride,
        "held_out_share": held_out_share,
        "unconstrained": unconstrained,
        "top": top,
        "seed": seed,
        **{name: value for name, value in (("document", document), ("field", field)) if value is not None},
        "format": format,
    }
    options = FilterOptions.parse(given, "The command line")
    with (
        resumable("What is filtered is kept"),
        StageProgress() as progress,
        open_runtime(workers, _WORKER_BYTES) as runtime,
    ):
        told = filter_corpus(sources, vocabulary, out, options, runtime, progress)
    show_language(told, out)
