"""Output of `bitcipher status`."""

from dataclasses import dataclass

from bitcipher.errors import BitcipherError
from bitcipher.redaction import redact
from cluster.cli.display.builds import describe_missing_vectors
from cluster.cli.display.console import OUT, format_count, format_share
from pipelines.builds.status import BuildStatus, read_status
from pipelines.store.manifest import Drift, read_manifest


@dataclass(frozen=True)
class VersionSummary:
    """Sizes of a version of a build."""

    version: int
    documents: int
    bad_records: int
    undecodable_characters: int
    tokens: int
    vocabulary: int
    """Number of words."""
    vectors_from: int | None
    """Version from whose counts its vectors were made; None if there are no vectors yet."""
    axes_from: int | None
    """Version whose axes the vectors have; None in other modes than spectral."""
    drift: Drift | None
    """Difference from the previous vectors; None for the first vectors, or without own vectors."""
    drift_from: int | None
    """Version whose vectors are the previous ones."""


@dataclass(frozen=True)
class DamagedVersion:
    """Version whose manifest cannot be read."""

    version: int
    error: str
    """What is wrong, and what to do."""


@dataclass(frozen=True)
class JobSummary:
    """Progress of an unfinished job."""

    version: int
    """Number of the version that the job makes."""
    started: str
    is_published: bool
    """Whether the version exists already, and only temporary files are left."""
    is_running: bool
    pid: int | None
    """Process that runs the job; None if the job was interrupted."""
    host: str | None
    last_heartbeat: str | None
    tasks: int
    """Number of count tasks, 0 before they are planned."""
    tasks_done: int
    tokens: int
    ranges_merged: int


@dataclass(frozen=True)
class StatusSummary:
    """Versions of a build, oldest first, and its unfinished job."""

    build: str
    versions: list[VersionSummary | DamagedVersion]
    job: JobSummary | None


def find_status(build: str) -> StatusSummary:
    """Return the status of a build.

    Raises:
        BitcipherError: if there is neither a version nor a job.
    """
    status = read_status(build)
    return StatusSummary(redact(build), [_summarize_version(build, each) for each in status.versions], _job(status))


def print_status(status: StatusSummary) -> None:
    """Print the versions of a build, and the progress of its running or interrupted job."""
    for version in status.versions:
        OUT.print(f"version {version.version}: {_describe_version(version)}")
    newest = status.versions[-1] if status.versions else None
    if isinstance(newest, VersionSummary) and newest.vectors_from != newest.version:
        OUT.print(describe_missing_vectors(status.build, newest.version, newest.vectors_from))
    if status.job is None:
        OUT.print("No job is running, and none was interrupted.")
    else:
        _print_job(status.job)


def _print_job(job: JobSummary) -> None:
    if job.is_published and not job.is_running:
        OUT.print(
            f"\nThe job for version {job.version} published it, but stopped before it removed its temporary "
            "files. The next `bitcipher update` removes them, and so does `bitcipher prune --unfinished`."
        )
        return
    OUT.print(f"\nUnfinished job for version {job.version}, started {job.started}:")
    counted = f"{job.tasks_done:,} of {job.tasks:,} tasks counted" if job.tasks else "no task counted yet"
    merged = format_count(job.ranges_merged, "range")
    OUT.print(f"  {counted}, {format_count(job.tokens, 'token')}, {merged} of words merged")
    if job.is_running:
        OUT.print(f"  running as process {job.pid} on {job.host}, last heartbeat {job.last_heartbeat}")
    else:
        OUT.print("  The job was interrupted: run the same command again to resume it.")


def _summarize_version(build: str, number: int) -> VersionSummary | DamagedVersion:
    try:
        manifest = read_manifest(build, number)
    except BitcipherError as error:
        advice = "Restore the file from a copy, or remove the version with `bitcipher prune --keep`."
        return DamagedVersion(number, f"{error} {advice}")
    return VersionSummary(
        version=number,
        documents=manifest.documents,
        bad_records=sum(manifest.records.bad.values()),
        undecodable_characters=manifest.records.replacements,
        tokens=manifest.tokens,
        vocabulary=manifest.vocabulary,
        vectors_from=manifest.vectors_from.version if manifest.vectors_from else None,
        axes_from=manifest.basis.version if manifest.basis else None,
        drift=manifest.drift,
        drift_from=manifest.drift_from,
    )


def _job(status: BuildStatus) -> JobSummary | None:
    if status.job is None:
        return None
    holder = status.holder
    return JobSummary(
        version=status.job.version,
        started=status.job.started,
        is_published=status.is_published,
        is_running=holder is not None,
        pid=holder.pid if holder else None,
        host=holder.host if holder else None,
        last_heartbeat=holder.time if holder else None,
        tasks=status.tasks,
        tasks_done=status.tasks_done,
        tokens=status.tokens,
        ranges_merged=status.ranges_merged,
    )


def _describe_version(version: VersionSummary | DamagedVersion) -> str:
    if isinstance(version, DamagedVersion):
        return version.error
    return (
        f"{format_count(version.documents, 'document')}{_left_out(version)}, "
        f"{format_count(version.tokens, 'token')}, {format_count(version.vocabulary, 'word')}"
        f"{_describe_vectors(version)}"
    )


def _describe_vectors(version: VersionSummary) -> str:
    """Return the drift and the axes of a version's vectors, or that it has no vectors of its own."""
    if version.vectors_from != version.version:
        return ", counts only"
    drift, since = version.drift, ""
    if drift and version.drift_from != version.version - 1:
        since = f" since version {version.drift_from}"
    moved = f", {format_share(1 - drift.neighbors)} of neighbors changed{since}" if drift else ""
    if version.axes_from not in (None, version.version):
        moved += f", axes of version {version.axes_from}"
    return moved


def _left_out(version: VersionSummary) -> str:
    """Return the number of bad records and of undecodable characters in brackets, empty if there are none."""
    numbers = ((version.bad_records, "bad record"), (version.undecodable_characters, "undecodable character"))
    found = [format_count(number, noun) for number, noun in numbers if number]
    return f" ({', '.join(found)})" if found else ""
