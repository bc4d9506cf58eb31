"""Commands that read and clean documents: `shard` and `sample`."""

from typing import Annotated, Any

import typer

from cluster.cli.interrupts import resumable
from cluster.cli.options import AutoWorkers, Rehash, option_name, record_options
from cluster.cli.verbosity import with_verbosity
from cluster.metavars import NAME_OR_PATH, PATH
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.recipes import read_recipe
from pipelines.shard.options import RECIPES, ShardOptions

# Options of the command line; rules and duplicates are set in a recipe.
_DETAILS = ("url_field", "date_field", "language_field")
_READING = (*ReadOptions.model_fields, *_DETAILS)
_OPTIONS = (*_READING, "shard_mib", "keep_dropped", "memory_mib")

Recipe = Annotated[
    str | None,
    typer.Option(
        help="YAML file with `rules`, `duplicates`, `sources` and any of the options below, or the name of a recipe: "
        "c4, commoncrawl-wet, commoncrawl-warc, wikipedia or babylm.",
        show_default="exact copies of documents are dropped",
        metavar=NAME_OR_PATH,
    ),
]


@with_verbosity
@record_options(ShardOptions, only=_OPTIONS)
def shard(
    option_values: dict[str, Any],
    sources: Annotated[
        list[str] | None,
        typer.Argument(help="Files, directories, globs, URLs or lists of paths, in any format.", metavar=PATH),
    ] = None,
    *,
    out: Annotated[
        str, typer.Option(help="Directory of the document shards: new, or with document shards.", metavar=PATH)
    ],
    recipe: Recipe = None,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Remove documents of sources that changed or vanished; copies of them return."),
    ] = False,
    workers: AutoWorkers = "auto",
    rehash: Rehash = False,
) -> None:
    """Clean documents, drop duplicates, and write Parquet shards. Re-run the same command to resume.

    With an existing directory, only new sources are read. Their documents are added to the directory.

    For example: bitcipher shard crawl/*.warc.wet.gz --recipe commoncrawl-wet --out documents
    """
    from cluster.cli.display.shards import print_shards
    from pipelines.reports.shard.page import write_shard_report
    from pipelines.runtime.open_runtime import open_grouping_runtime
    from pipelines.runtime.progress import StageProgress
    from pipelines.shard.shard_corpus import shard_corpus

    options, patterns = _parse(recipe, option_values, sources)
    with (
        resumable("cleaned sources"),
        StageProgress() as progress,
        open_grouping_runtime(workers, options.memory_mib << 20) as runtime,
    ):
        result = shard_corpus(patterns, out, options, runtime, progress, replace=replace, rehash=rehash)
    print_shards(result, out, write_shard_report(out, result.manifest), replace=replace)


@record_options(ShardOptions, only=_READING)
def sample(
    option_values: dict[str, Any],
    sources: Annotated[
        list[str] | None,
        typer.Argument(help="Files, directories, globs, URLs or lists of paths, in any format.", metavar=PATH),
    ] = None,
    *,
    number: Annotated[int, typer.Option("--number", "-n", min=1, help="Maximum number of documents.")] = 20,
    recipe: Recipe = None,
    characters: Annotated[int, typer.Option(min=1, help="Maximum number of characters to print per document.")] = 500,
) -> None:
    """Print the first documents as the pipeline sees them. They are read, and cleaned by the rules of a recipe.

    For example: bitcipher sample crawl/*.warc.gz --recipe commoncrawl-warc -n 5
    """
    from cluster.cli.display.shards import print_sample
    from pipelines.shard.sample import sample_records

    options, patterns = _parse(recipe, option_values, sources)
    print_sample(sample_records(patterns, options, number), characters)


def _parse(
    recipe: str | None, option_values: dict[str, Any], sources: list[str] | None
) -> tuple[ShardOptions, list[str]]:
    values, recipe_sources = read_recipe(recipe, RECIPES, ShardOptions) if recipe else ({}, [])
    return ShardOptions.parse({**values, **option_values}, name=option_name), sources or recipe_sources
