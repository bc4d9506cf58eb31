"""Command that finds damaged files: `verify`."""

from typing import Annotated

import typer

from bitcipher.redaction import redact
from cluster.cli.dependencies import require_extra
from cluster.cli.options import AsJson, Workers
from cluster.cli.verbosity import with_verbosity
from cluster.metavars import PATH


@with_verbosity
def verify(
    folder: Annotated[
        str, typer.Argument(help="Build, or directory of vectors, document shards or training runs.", metavar=PATH)
    ],
    workers: Workers = 0,
    memory_mib: Annotated[int, typer.Option(min=1, help="MiB of memory per worker.")] = 2048,
    as_json: AsJson = False,
) -> None:
    """Read all files of a build or a run, and list damaged ones. Exits with code 2 if there are any.

    The digest of all counts is computed again, and every checksum is compared. For a training run, the text that it was
    trained on is read, too. Nothing is changed.

    For example: bitcipher verify vectors
    """
    from cluster.cli.display.damage import print_damage
    from cluster.cli.display.result import print_result
    from pipelines.runtime.open_runtime import open_runtime
    from pipelines.runtime.progress import StageProgress
    from pipelines.verify.verify import verify as verify_build
    from training.runs.verify.training_folders import find_training_folders

    with StageProgress() as progress, open_runtime(workers, memory_mib << 20) as runtime:
        if find_training_folders(folder):
            require_extra("training", "`bitcipher verify` of a training run")
            from training.runs.verify.run_checks import verify_training

            result = verify_training(folder, runtime, progress)
        else:
            result = verify_build(folder, runtime, progress)
    print_result({"folder": redact(folder), **vars(result)}, as_json, lambda: print_damage(folder, result))
    if result.damage:
        raise typer.Exit(2)
