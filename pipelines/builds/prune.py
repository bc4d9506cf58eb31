"""Removal of old versions of a build, and of files that no version needs."""

import re

from bitcipher.counts.segment import part_files
from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.versions import VERSIONS, manifest_uri, versions
from pipelines.store import layout
from pipelines.store.build_folder import BUILD, count_recorded_shards, recorded_parts
from pipelines.store.job_folder import folder_ledger
from pipelines.store.lease import Lease
from pipelines.store.removal import list_names, remove_below, remove_empty
from pipelines.store.stored_versions import StoredVersion, StoredVersions

# Names that jobs give to files of counts (also while they are written), versions and temporary folders. Other files in
# the folders of a build are left alone.
_COUNTS = re.compile(r".+\.(words|rows|entries)\.parquet(\..+)?")
_VERSION = re.compile(r"\d{6}[-.].+")
_WORK = re.compile(r"[0-9a-f]{32}|[0-9a-f]+-\d{5}-[0-9a-f]{8}")


def prune(build: str, keep: int) -> list[int]:
    """Remove all but the newest versions; return the numbers of the removed versions.

    The vectors of a removed version stay while a kept version without vectors of its own refers to them.

    Args:
        build: folder of the build.
        keep: number of versions to keep.

    Raises:
        BitcipherError: if it is not a build, a folder in it is a symbolic link, another job is running on it, or
            `keep` is 0.
    """
    if keep < 1:
        raise BitcipherError(f"`keep` must be at least 1, got {keep}. To remove all versions, remove the folder.")
    stored = StoredVersions(build)
    stored.find()
    _check_no_links(build)
    with Lease(build) as lease:
        removed = versions(build)[:-keep]
        lease.check()
        for version in removed:
            storage.remove(manifest_uri(build, version))
        collect_garbage(stored)
    return removed


def drop_unfinished(build: str) -> int:
    """Remove the work of an unfinished job; return the number of shards that it had counted.

    Raises:
        BitcipherError: if there is no build, a folder in it is a symbolic link, or another job is running on it.
    """
    if not (versions(build) or folder_ledger(build).keys(BUILD.job) or count_recorded_shards(build)):
        raise BitcipherError(f"There is no build, and no unfinished job, in {build}.")
    _check_no_links(build)
    with Lease(build) as lease:
        shards = 0 if _has_published(build) else count_recorded_shards(build)
        lease.check()  # a job that has taken over in the meantime uses the ledger
        folder_ledger(build).clear()
        collect_garbage(StoredVersions(build), unpublished=True)
    return shards


def _has_published(build: str) -> bool:
    """Return whether the job in the ledger published its version, and stopped before it cleared the ledger."""
    try:
        job = BUILD.find_job(build)
    except BitcipherError:  # an entry of another version of bitcipher
        return False
    return job is not None and job.version in versions(build)


def collect_garbage(stored: StoredVersions, *, unpublished: bool = False) -> None:
    """Remove files that neither a version nor an unfinished job refers to. The lease must be held.

    Files behind symbolic links are kept, because they can belong to another build or to the user. By default, the files
    of versions above the newest version are kept, too, because a suspended job can still publish them. While a manifest
    is damaged, it is unknown to which counts and to which earlier vectors its version refers, so all counts are kept,
    and the files of all versions up to this one. All counts are kept, too, while a table of shards or segments is
    damaged.

    Args:
        stored: versions of the build.
        unpublished: also remove the files of versions above the newest version.
    """
    build = stored.build
    # Files are listed before references are read, so files that are added in the meantime are not removed.
    counts = [
        storage.join(folder, file)
        for folder in (layout.SHARDS, layout.SEGMENTS)
        for file in storage.list_files(storage.join(build, folder), unfinished=True)
    ]
    entries = {file.split("/")[0] for file in storage.list_files(storage.join(build, VERSIONS), unfinished=True)}
    published, damaged = _read_versions(stored)
    parts = None if damaged else _needed_parts(build, published)
    if parts is not None:
        needed = {file for part in parts for file in part_files(part)}
        for file in counts:
            if file not in needed and _COUNTS.fullmatch(file):
                remove_below(build, file)
    manifests = [version.manifest for version in published]
    newest = max((manifest.version for manifest in manifests), default=0)
    needed = {name for m in manifests for name in (m.folder, storage.join(VERSIONS, f"{m.version:06d}.json"))}
    needed |= {m.vectors_from.folder.rpartition("/")[0] for m in manifests if m.vectors_from}
    newest_damaged = max(damaged, default="")
    for name in sorted(filter(_VERSION.fullmatch, entries)):
        is_old = unpublished or name[:6] <= f"{newest:06d}"
        if is_old and name[:6] > newest_damaged and storage.join(VERSIONS, name) not in needed:
            remove_below(build, storage.join(VERSIONS, name))
    for name in filter(_WORK.fullmatch, list_names(storage.join(build, layout.WORK))):
        remove_below(build, storage.join(layout.WORK, name))
    remove_empty(storage.join(build, layout.WORK))


def _read_versions(stored: StoredVersions) -> tuple[list[StoredVersion], set[str]]:
    """Return the versions of a build, and the numbers of those, with six digits, whose manifest is damaged."""
    published: list[StoredVersion] = []
    damaged: set[str] = set()
    for version in versions(stored.build):
        try:
            published.append(stored.find(version))
        except BitcipherError:
            damaged.add(f"{version:06d}")
    return published, damaged


def _needed_parts(build: str, published: list[StoredVersion]) -> set[str] | None:
    """Return the parts that versions and unfinished jobs refer to, or None if a table is damaged."""
    try:
        parts = {part for version in published for part in version.parts()}
    except BitcipherError:
        return None
    return parts | recorded_parts(build)


def _check_no_links(build: str) -> None:
    for name in (*layout.JOB_FOLDERS, layout.LEASE):
        if storage.is_link(storage.join(build, name)):
            raise BitcipherError(
                f"{storage.join(build, name)} is a symbolic link, and nothing behind a link is removed: replace the "
                "link with the folder that it points to."
            )
