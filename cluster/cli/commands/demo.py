"""Command that builds example vectors from text on this machine: `demo`."""

from typing import Annotated

import typer

from cluster.cli.dependencies import require_extra
from cluster.cli.options import Workers
from cluster.metavars import PATH


def demo(
    out: Annotated[str, typer.Option(help="Directory of the demo; it must not exist yet.", metavar=PATH)] = "demo",
    workers: Workers = 0,
) -> None:
    """Build vectors from docstrings of the installed packages. It needs no network.

    Shows neighbors of example words, and writes a page with a map of words.

    For example: bitcipher demo --out demo
    """
    require_extra("report", "`bitcipher demo`")
    from cluster.demo.demo import run_demo

    run_demo(out, workers)
