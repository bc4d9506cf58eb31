"""Command that restricts a corpus to a small vocabulary: `filter`."""

from typing import Annotated, Any

import typer

from cluster.cli.interrupts import resumable
from cluster.cli.options import AutoWorkers, option_name, record_options
from cluster.cli.verbosity import with_verbosity
from cluster.metavars import PATH
from training.studies.downscaling.filter.options import FilterOptions

# Bytes of memory per worker: for a document of several megabytes, the tokenizer's cache, and counts of unknown words.
_WORKER_BYTES = 1500 << 20


@with_verbosity
@record_options(FilterOptions, only=FilterOptions.model_fields.keys() - {"spans_only", "sentences_only"})
def filter(
    option_values: dict[str, Any],
    sources: Annotated[
        list[str],
        typer.Argument(help="Files, directories or globs of text, JSON lines, Parquet or web archives.", metavar=PATH),
    ],
    *,
    out: Annotated[
        str,
        typer.Option(help="Directory of the filtered corpus: new, or of an interrupted command.", metavar=PATH),
    ],
    vocabulary: Annotated[
        str | None,
        typer.Option(
            help="File with one word per line, or CSV file with a column `word`.",
            show_default="with --top, words of the sources",
            metavar=PATH,
        ),
    ] = None,
    spans_only: Annotated[
        list[str] | None,
        typer.Option(help="Sources of which only spans are kept. Repeat for several.", metavar=PATH),
    ] = None,
    sentences_only: Annotated[
        list[str] | None,
        typer.Option(help="Sources of which only sentences are kept. Repeat for several.", metavar=PATH),
    ] = None,
    workers: AutoWorkers = "auto",
) -> None:
    """Keep the spans and sentences of a corpus whose words are all in a vocabulary. An interrupted run resumes.

    For example: bitcipher filter enwiki --vocabulary words.txt --out filtered
    """
    from cluster.cli.display.filtering import print_filtered_corpus
    from pipelines.runtime.open_runtime import open_runtime
    from pipelines.runtime.progress import StageProgress
    from training.studies.downscaling.filter.filter_corpus import filter_corpus

    levels = {"spans_only": tuple(spans_only or ()), "sentences_only": tuple(sentences_only or ())}
    options = FilterOptions.parse(option_values | levels, name=option_name)
    with (
        resumable("filtered sources"),
        StageProgress() as progress,
        open_runtime(workers, _WORKER_BYTES) as runtime,
    ):
        manifest = filter_corpus(sources, vocabulary, out, options, runtime, progress)
    print_filtered_corpus(manifest, out)
