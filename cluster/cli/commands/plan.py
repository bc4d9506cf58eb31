"""Command that estimates the cost of a build: `plan`."""

from dataclasses import replace
from typing import Annotated, Any

import typer

from bitcipher.errors import BitcipherError
from cluster.cli.options import AsJson, option_name, record_options
from cluster.metavars import PATH
from pipelines.options import BuildOptions

# Description of the default sample.
DOCSTRINGS = "English docstrings of the installed Python packages, which may differ from your text"


@record_options(BuildOptions)
def plan(
    option_values: dict[str, Any],
    sources: Annotated[
        list[str] | None,
        typer.Argument(help="Files, directories or globs of the corpus; a sample of it is counted.", metavar=PATH),
    ] = None,
    tokens: Annotated[
        float | None,
        typer.Option(help="Number of tokens to plan for, such as 1e12.", show_default="all tokens of the sources"),
    ] = None,
    sample: Annotated[
        list[str] | None,
        typer.Option(
            help="With --tokens: file, directory or glob of text that resembles the corpus. Repeat for several.",
            show_default="docstrings of the installed packages",
            metavar=PATH,
        ),
    ] = None,
    build: Annotated[
        str | None,
        typer.Option(
            help="Build of similar text. Its options are used, and its counts show how words and pairs grow with text.",
            metavar=PATH,
        ),
    ] = None,
    nodes: Annotated[int, typer.Option(min=1, help="Number of machines.")] = 1,
    cores: Annotated[int | None, typer.Option(min=1, help="Cores per machine.", show_default="this machine's")] = None,
    memory_gb: Annotated[
        float | None, typer.Option(help="Memory per machine in GB.", show_default="this machine's")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Estimate the core-hours, memory, storage and time of a build.

    Counts, merges and embeds some megabytes of text on this machine, which takes about 20 seconds and leaves no files.
    Estimates far beyond the sample are given as a range.

    For example: bitcipher plan --tokens 1e12 --sample corpus/part-0.json.gz --nodes 50 --cores 32 --memory-gb 256
    """
    if bool(sources) == (tokens is not None):
        raise BitcipherError("Give either the sources of a corpus or --tokens.")
    if tokens is not None and not 0 < tokens < float("inf"):
        raise BitcipherError(f"`--tokens` must be greater than 0, got {tokens:g}.")
    if sources and sample:
        raise BitcipherError("`--sample` is an option of --tokens: with sources, the sample is taken from them.")
    if memory_gb is not None and memory_gb <= 0:
        raise BitcipherError(f"`--memory-gb` must be greater than 0, got {memory_gb:g}.")
    if build is None:
        BuildOptions.parse(option_values, name=option_name)  # report wrong options before text is read
    from bitcipher.cores import available_cores
    from cluster.cli.display.plan import plan_fields, print_plan
    from cluster.cli.display.result import print_result
    from cluster.demo.docstring_sample import docstring_sample
    from cluster.doctor.machine import memory_bytes
    from pipelines.estimate.build_cost import Cluster
    from pipelines.estimate.build_estimate import EstimateRequest, estimate_build

    cluster = Cluster(nodes, cores or available_cores(), memory_gb * 1e9 if memory_gb else memory_bytes())
    request = EstimateRequest(
        sources=tuple(sources or ()),
        tokens=tokens,
        sample=tuple(sample or ()),
        build=build,
        options=option_values,
        cluster=cluster,
    )
    if sources or sample or build:
        estimate = estimate_build(request)
    else:
        with docstring_sample() as file:
            estimate = replace(estimate_build(request.copy_with(sample=(file,))), sampled=DOCSTRINGS)
    print_result(plan_fields(estimate), as_json, lambda: print_plan(estimate))
