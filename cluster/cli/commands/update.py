"""Commands for builds that grow: `update`, `status` and `prune`."""

from typing import Annotated

import typer

from bitcipher.errors import BitcipherError
from cluster.cli.interrupts import resumable
from cluster.cli.options import PATH, VERSION_OR_PATH, MemoryMegabytes, Workers

Build = Annotated[str, typer.Argument(help="The folder of the build.", metavar=PATH)]

# What a schedule can tell from a mistake (2) and a crash (1): the version was made, and held back.
DRIFTED = 3


def update(
    build: Build,
    sources: Annotated[
        list[str],
        typer.Argument(help="All files, folders or globs of the corpus, or just what came to it.", metavar=PATH),
    ],
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Subtract the counts of files that changed or vanished."),
    ] = False,
    max_drift: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Publish nothing, and end with exit code 3, if more than this share of the neighbors of common words "
            "moved away.",
        ),
    ] = None,
    align: Annotated[
        str | None,
        typer.Option(
            help="Keep the ranks, and so the codes, of known words: those of a version of this build by its number, "
            "of another build, or of a folder of vectors. New words are ranked behind them.",
            metavar=VERSION_OR_PATH,
        ),
    ] = None,
    workers: Workers = 0,
    memory_mib: MemoryMegabytes = None,
) -> None:
    """Count what is new in a corpus, and publish a new version of its words, counts and vectors.

    A file is known by its content: what was counted under any name is not counted again. The result is that of a
    build of the whole corpus, to the byte. Earlier versions stay until they are pruned.

    For example: bitcipher update vectors corpus/ --max-drift 0.2
    """
    from cluster.cli.display import builds
    from pipelines.build.build import update as run
    from pipelines.build.version_drift import DriftError
    from pipelines.options import UpdateOptions
    from pipelines.runtime.progress import StageProgress
    from pipelines.runtime.runtime import open_runtime
    from pipelines.store import layout

    chosen = UpdateOptions(replace=replace, max_drift=max_drift, align=align)
    before = layout.read_manifest(build)
    megabytes = memory_mib or before["options"]["memory_mib"]
    try:
        with resumable(), StageProgress() as progress, open_runtime(workers, megabytes << 20) as runtime:
            manifest, changes = run(build, sources, chosen, megabytes, runtime, progress)
    except DriftError as error:
        typer.echo(f"bitcipher: {error}", err=True)
        raise typer.Exit(DRIFTED) from None
    builds.changes(changes, replace)
    if manifest["version"] == before["version"]:
        typer.echo(f"Nothing is new: version {manifest['version']} stays.")
    else:
        builds.version(build, manifest)


def status(build: Build) -> None:
    """Show the versions of a build, and how far a job is that is at work on it, from its ledger.

    For example: bitcipher status vectors
    """
    from cluster.cli.display import builds

    builds.status(build)


def prune(
    build: Build,
    keep: Annotated[int | None, typer.Option(min=1, help="Keep so many versions, the newest.")] = None,
    unfinished: Annotated[
        bool, typer.Option("--unfinished", help="Drop what a stopped job has counted, instead of resuming it.")
    ] = False,
) -> None:
    """Remove old versions of a build, or what is left of a job that was stopped.

    For example: bitcipher prune vectors --keep 7
    """
    from pipelines.build.publish import drop_unfinished
    from pipelines.build.publish import prune as run

    if (keep is None) == (not unfinished):
        raise BitcipherError("Say what to remove: --keep N for old versions, or --unfinished.")
    if unfinished:
        typer.echo(f"Dropped {drop_unfinished(build):,} shards of an unfinished job.")
    else:
        gone = run(build, keep)
        typer.echo(f"Removed {len(gone):,} versions{': ' + ', '.join(map(str, gone)) if gone else ''}.")
