"""The command `plan`."""

from dataclasses import replace
from typing import Annotated

import typer

from bitcipher.errors import BitcipherError
from cluster.cli.options import (
    PATH,
    Bits,
    Context,
    Dimensions,
    Document,
    Field,
    Format,
    Lowercase,
    MaxSize,
    MemoryMegabytes,
    MinCount,
    Mode,
    Radius,
    ShardMegabytes,
    Summed,
    TokenizerName,
)

# Said of the sample where none is given.
DOCSTRINGS = "English of the docstrings of installed Python packages, which may be unlike your text"


def plan(
    sources: Annotated[
        list[str] | None,
        typer.Argument(help="The corpus: files, folders or globs, of which some text is counted.", metavar=PATH),
    ] = None,
    tokens: Annotated[
        float | None,
        typer.Option(help="Plan for so many tokens instead, such as 1e12.", show_default="as many as sources hold"),
    ] = None,
    sample: Annotated[
        list[str] | None,
        typer.Option(
            help="With --tokens: text like that of the corpus, a file, folder or glob; may be given several times.",
            show_default="the English of installed packages' docstrings",
            metavar=PATH,
        ),
    ] = None,
    build: Annotated[
        str | None,
        typer.Option(
            help="A build of such text: its options are taken, and growth is read off what it counted.", metavar=PATH
        ),
    ] = None,
    nodes: Annotated[int, typer.Option(min=1, help="Machines of the cluster.")] = 1,
    cores: Annotated[
        int | None, typer.Option(min=1, help="Cores of each machine.", show_default="those of this machine")
    ] = None,
    memory_gb: Annotated[
        float | None, typer.Option(help="Memory of each machine.", show_default="that of this machine")
    ] = None,
    format: Format = None,
    document: Document = None,
    field: Field = None,
    tokenizer: TokenizerName = None,
    lowercase: Lowercase = None,
    min_count: MinCount = None,
    max_vocab_size: MaxSize = None,
    summed: Summed = None,
    bits: Bits = None,
    window: Radius = None,
    mode: Mode = None,
    vector_size: Dimensions = None,
    context: Context = None,
    shard_mib: ShardMegabytes = None,
    memory_mib: MemoryMegabytes = None,
) -> None:
    """Tell what a build will take: core-hours, memory, storage and time, before it is made.

    Some megabytes of text are counted, merged and embedded here, which takes about 20 seconds and leaves nothing
    behind. What lies far beyond the sample is told with a range.

    For example: bitcipher plan --tokens 1e12 --sample corpus/part-0.json.gz --nodes 50 --cores 32 --memory-gb 256
    """
    names = ("format", "document", "field", "tokenizer", "lowercase", "min_count", "max_vocab_size", "summed", "bits")
    names += ("window", "mode", "vector_size", "context", "shard_mib", "memory_mib")
    given = {name: value for name, value in locals().items() if name in names and value is not None}
    if bool(sources) == (tokens is not None):
        raise BitcipherError("Say what to plan for: the sources of a corpus, or --tokens.")
    if tokens is not None and not 0 < tokens < float("inf"):
        raise BitcipherError(f"--tokens must be a number above 0, not {tokens:g}.")
    if sources and sample:
        raise BitcipherError("A --sample goes with --tokens: of sources, the sample is taken from them.")
    if memory_gb is not None and memory_gb <= 0:
        raise BitcipherError(f"--memory-gb must be above 0, not {memory_gb:g}.")
    from cluster.cli.display.plan import show_plan
    from cluster.demo.docstring_sample import docstring_sample
    from cluster.doctor.machine import cpu_count, memory_bytes
    from pipelines.estimate.estimate import Cluster
    from pipelines.estimate.planner import Request, make_plans
    from pipelines.options import BuildOptions

    cluster = Cluster(nodes, cores or cpu_count(), memory_gb * 1e9 if memory_gb else memory_bytes())
    if sources or sample or build:
        show_plan(make_plans(Request(sources or [], tokens, sample or [], build, given, cluster)))
    else:
        BuildOptions.parse(given, "The command line")  # a mistake shows before anything is read
        with docstring_sample() as file:
            plans = make_plans(Request([], tokens, [file], None, given, cluster))
        show_plan(replace(plans, sampled=DOCSTRINGS))
