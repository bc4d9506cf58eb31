"""Commands for builds that grow: `update` and `prune`."""

from typing import Annotated, Any

import typer

from bitcipher.errors import BitcipherError
from bitcipher.terminal import print_text
from cluster.cli.interrupts import resumable
from cluster.cli.options import AutoWorkers, Rehash, option_name, record_options
from cluster.cli.verbosity import with_verbosity
from cluster.metavars import BUILD, PATH
from pipelines.options import UpdateOptions

Build = Annotated[str, typer.Argument(help="Directory of the build.", metavar=BUILD)]

# Exit code of an update whose drift is above the maximum. User errors exit with code 2, and crashes with code 1.
DRIFT_EXIT_CODE = 3


@with_verbosity
@record_options(UpdateOptions)
def update(
    option_values: dict[str, Any],
    build: Build,
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            help="Files, directories or globs: the whole corpus, or only new files. Without any, only vectors are "
            "made, if the newest version has none of its own.",
            metavar=PATH,
        ),
    ] = None,
    workers: AutoWorkers = "auto",
    memory_mib: Annotated[
        int | None,
        typer.Option(help="MiB of memory per worker; without workers, per core.", show_default="as in the build"),
    ] = None,
    rehash: Rehash = False,
) -> None:
    """Count the new files of a corpus, and publish a new version.

    Files are identified by their content, so a renamed file is not counted again. The new version equals a build of the
    whole corpus, byte for byte. Earlier versions stay until they are pruned. With `--vectors later`, the new version
    has new counts and the vectors of an earlier version.

    For example: bitcipher update vectors corpus/ --max-drift 0.2
    """
    from cluster.cli.display import builds
    from cluster.cli.display.console import OUT
    from pipelines.builds.build import update as run
    from pipelines.builds.version_drift import DriftError
    from pipelines.options import UpdateOptions
    from pipelines.runtime.machine_size import threads_of
    from pipelines.runtime.open_runtime import open_runtime
    from pipelines.runtime.progress import StageProgress
    from pipelines.store.manifest import read_manifest

    options = UpdateOptions.parse(option_values, name=option_name)
    before = read_manifest(build)
    budget: int = memory_mib or before.options.memory_mib
    try:
        with (
            resumable(),
            StageProgress() as progress,
            open_runtime(workers, budget << 20, threads_of(budget << 20)) as runtime,
        ):
            manifest, changes = run(build, sources or [], options, budget, runtime, progress, rehash=rehash)
    except DriftError as error:
        print_text(f"bitcipher: {error}", err=True)
        raise typer.Exit(DRIFT_EXIT_CODE) from None
    if sources:
        builds.print_changes(changes, options.replace)
    if manifest.version == before.version:
        OUT.print(f"Nothing is new: version {manifest.version} is up to date.")
    else:
        builds.print_version(build, manifest)


def prune(
    build: Build,
    keep: Annotated[int | None, typer.Option(min=1, help="Number of versions to keep, newest first.")] = None,
    unfinished: Annotated[
        bool, typer.Option("--unfinished", help="Remove the counts of an interrupted job instead of resuming it.")
    ] = False,
) -> None:
    """Remove old versions of a build, or an interrupted job.

    For example: bitcipher prune vectors --keep 7
    """
    from cluster.cli.display.console import format_count
    from pipelines.builds.prune import drop_unfinished
    from pipelines.builds.prune import prune as run

    if (keep is None) == (not unfinished):
        raise BitcipherError("Give either --keep N to remove old versions, or --unfinished.")
    if keep is None:
        print_text(f"Removed {format_count(drop_unfinished(build), 'shard')} of an interrupted job.")
    else:
        removed = run(build, keep)
        numbers = f": {', '.join(map(str, removed))}" if removed else ""
        print_text(f"Removed {format_count(len(removed), 'version')}{numbers}.")
