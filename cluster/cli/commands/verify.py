"""Command that finds damaged files: `verify`."""

from typing import Annotated

import typer

from cluster.cli.options import Workers
from cluster.metavars import PATH


def verify(
    folder: Annotated[
        str, typer.Argument(help="Build, or directory of vectors, document shards or a training run.", metavar=PATH)
    ],
    workers: Workers = 0,
    memory_mib: Annotated[int, typer.Option(min=1, help="MiB of memory per worker.")] = 2048,
) -> None:
    """Read all files of a build, and list those that are damaged. Exits with code 2 if there are any.

    The digest of all counts is computed again, and every checksum is compared. Nothing is changed.

    For example: bitcipher verify vectors
    """
    from cluster.cli.display.damage import print_damage
    from pipelines.runtime.progress import StageProgress
    from pipelines.runtime.runtime import open_runtime
    from pipelines.verify import verify as run

    with StageProgress() as progress, open_runtime(workers, memory_mib << 20) as runtime:
        result = run(folder, runtime, progress)
    print_damage(folder, result)
    if result.damage:
        raise typer.Exit(2)
