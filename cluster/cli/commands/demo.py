"""The command `demo`."""

from typing import Annotated

import typer

from cluster.cli.options import PATH, Workers


def demo(
    out: Annotated[str, typer.Option(help="Folder for the demo; it must not be there yet.", metavar=PATH)] = "demo",
    workers: Workers = 0,
) -> None:
    """Build vectors from the English of the installed Python packages' docstrings, without a network.

    Shows neighbors of a few words, and writes a page with a map of words.
    """
    from cluster.demo.demo import run_demo

    run_demo(out, workers)
