"""Commands that make vectors: `build` and `embed`."""

from typing import Annotated, Any

import typer

from bitcipher.errors import BitcipherError
from cluster.cli.interrupts import resumable
from cluster.cli.options import (
    PATH,
    Bits,
    Context,
    Dimensions,
    Document,
    Field,
    Format,
    Log,
    Lowercase,
    MaxSize,
    MemoryMegabytes,
    MinCount,
    Mode,
    Noise,
    Radius,
    ShardMegabytes,
    Summed,
    TokenizerName,
    Version,
    Workers,
)


def build(
    sources: Annotated[
        list[str] | None,
        typer.Argument(help="Files, folders or globs of text, JSON lines, Parquet or WET.", metavar=PATH),
    ] = None,
    out: Annotated[str, typer.Option(help="Folder of the build; it must not be there yet.", metavar=PATH)] = ...,
    recipe: Annotated[
        str | None,
        typer.Option(
            help="YAML file with any of these options and `sources`; what is given here as well wins.", metavar=PATH
        ),
    ] = None,
    workers: Workers = 0,
    format: Format = None,
    document: Document = None,
    field: Field = None,
    tokenizer: TokenizerName = None,
    lowercase: Lowercase = None,
    min_count: MinCount = None,
    max_vocab_size: MaxSize = None,
    word_list: Annotated[
        str | None, typer.Option(help="Keep exactly the words of this file, one a line.", metavar=PATH)
    ] = None,
    summed: Summed = None,
    bits: Bits = None,
    window: Radius = None,
    mode: Mode = None,
    vector_size: Dimensions = None,
    context: Context = None,
    noise: Noise = None,
    log: Log = None,
    shard_mib: ShardMegabytes = None,
    memory_mib: MemoryMegabytes = None,
) -> None:
    """Count a corpus and make its vectors. A build that was stopped goes on when it is started again.

    For example: bitcipher build corpus/*.json.gz --out vectors --window 4
    """
    given = {name: value for name, value in locals().items() if name not in ("sources", "out", "recipe", "workers")}
    from bitcipher import storage
    from cluster.cli.display import builds
    from pipelines.build.build import build as run
    from pipelines.options import BuildOptions
    from pipelines.runtime.progress import StageProgress
    from pipelines.runtime.runtime import open_runtime

    values: dict[str, Any] = storage.read_yaml(recipe) if recipe else {}
    listed = values.pop("sources", [])
    if not isinstance(listed, list) or not all(isinstance(source, str) for source in listed):
        raise BitcipherError(f"The recipe {recipe} must give sources as a list of paths or URIs.")
    values.update((name, value) for name, value in given.items() if value is not None)
    options = BuildOptions.parse(values, recipe or "The command line")
    with resumable(), StageProgress() as progress, open_runtime(workers, options.memory_mib << 20) as runtime:
        run(sources or listed, out, options, runtime, progress)
    builds.build_summary(out)


def embed(
    build: Annotated[str, typer.Argument(help="A build, whose counts are used.", metavar=PATH)],
    out: Annotated[str, typer.Option(help="Folder of the vectors; it must not be there yet.", metavar=PATH)] = ...,
    bits: Bits = None,
    window: Radius = None,
    mode: Mode = None,
    vector_size: Dimensions = None,
    context: Context = None,
    noise: Noise = None,
    log: Log = None,
    version: Version = None,
    workers: Workers = 0,
    memory_mib: MemoryMegabytes = None,
) -> None:
    """Make other vectors of a build's counts, without reading text again. What is not given is as in the build.

    For example: bitcipher embed vectors --mode sum --bits 200 --out vectors-sum
    """
    names = ("bits", "window", "mode", "vector_size", "context", "noise", "log")
    chosen = {name: value for name, value in locals().items() if name in names and value is not None}
    from cluster.cli.display import builds
    from pipelines.embed.embed_counts import embed_build
    from pipelines.runtime.progress import StageProgress
    from pipelines.runtime.runtime import open_runtime
    from pipelines.store import layout

    megabytes = memory_mib or layout.read_manifest(build, version)["options"]["memory_mib"]
    with StageProgress() as progress, open_runtime(workers, megabytes << 20) as runtime:
        sizes = embed_build(build, out, chosen, megabytes, runtime, progress, version)
    builds.embed_summary(out, sizes)
