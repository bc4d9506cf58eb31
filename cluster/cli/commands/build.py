"""Commands that make vectors: `build` and `embed`."""

from typing import Annotated, Any

import typer

from cluster.cli.interrupts import resumable
from cluster.cli.options import AutoWorkers, Rehash, Version, Workers, option_name, record_options
from cluster.cli.verbosity import with_verbosity
from cluster.metavars import NAME_OR_PATH, PATH
from pipelines.ingest.recipes import read_recipe
from pipelines.options import RECIPES, BuildOptions, EmbeddingOptions, UpdateOptions


@with_verbosity
@record_options(BuildOptions)
def build(
    option_values: dict[str, Any],
    sources: Annotated[
        list[str] | None,
        typer.Argument(help="Files, directories or globs of text, JSON lines, Parquet or web archives.", metavar=PATH),
    ] = None,
    *,
    out: Annotated[str, typer.Option(help="Directory of the build; it must not exist yet.", metavar=PATH)],
    recipe: Annotated[
        str | None,
        typer.Option(
            help="YAML file with `sources` and any of the options below, or the name of a recipe: paper-cat, paper-sum "
            "or wide-sum. Options on the command line take precedence.",
            metavar=NAME_OR_PATH,
        ),
    ] = None,
    workers: AutoWorkers = "auto",
    vectors: Annotated[
        str,
        typer.Option(
            help="now: make vectors; later: publish the counts and the vocabulary only, and make the vectors with "
            "`bitcipher update BUILD --vectors now`.",
            metavar="now|later",
        ),
    ] = "now",
    rehash: Rehash = False,
) -> None:
    """Count a corpus and make word vectors. An interrupted build resumes when the command is run again.

    For example: bitcipher build corpus/*.json.gz --out vectors --window 4
    """
    from cluster.cli.display import builds
    from pipelines.builds.build import build as run
    from pipelines.runtime.machine_size import threads_of
    from pipelines.runtime.open_runtime import open_runtime
    from pipelines.runtime.progress import StageProgress

    values, recipe_sources = read_recipe(recipe, RECIPES, BuildOptions) if recipe else ({}, [])
    options = BuildOptions.parse({**values, **option_values}, name=option_name)
    chosen = UpdateOptions.parse({"vectors": vectors}, name=option_name)
    with (
        resumable(),
        StageProgress() as progress,
        open_runtime(workers, options.memory_mib << 20, threads_of(options.memory_mib << 20)) as runtime,
    ):
        run(sources or recipe_sources, out, options, runtime, progress, chosen.vectors, rehash=rehash)
    builds.print_build(out)


@with_verbosity
@record_options(EmbeddingOptions)
def embed(
    option_values: dict[str, Any],
    build: Annotated[str, typer.Argument(help="Build whose counts are used.", metavar=PATH)],
    *,
    out: Annotated[str, typer.Option(help="Directory of the vectors; it must not exist yet.", metavar=PATH)],
    version: Version = None,
    basis: Annotated[
        str | None,
        typer.Option(
            help="Keep the axes of a version of this build (its number), another build, or a folder of vectors, so "
            "that the vectors can be compared with these; mode spectral.",
            metavar="VERSION_OR_PATH",
        ),
    ] = None,
    workers: Workers = 0,
    memory_mib: Annotated[
        int | None,
        typer.Option(help="MiB of memory per worker; without workers, per core.", show_default="as in the build"),
    ] = None,
) -> None:
    """Make vectors with other options from the counts of a build. No text is read again.

    Options that are not given are taken from the build.

    For example: bitcipher embed vectors --mode sum --bits 200 --out vectors-sum
    """
    from cluster.cli.display import builds
    from pipelines.embed.embed_counts import embed_build
    from pipelines.runtime.machine_size import threads_of
    from pipelines.runtime.open_runtime import open_runtime
    from pipelines.runtime.progress import StageProgress
    from pipelines.store.manifest import read_manifest

    manifest = read_manifest(build, version)
    budget: int = memory_mib or manifest.options.memory_mib
    with StageProgress() as progress, open_runtime(workers, budget << 20, threads_of(budget << 20)) as runtime:
        sizes = embed_build(build, out, option_values, budget, runtime, progress, version, basis)
    builds.print_embedding(out, sizes, manifest.oov_tokens)
