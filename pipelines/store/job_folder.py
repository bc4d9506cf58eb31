"""Folders that one job at a time writes: builds, document shards, filtered corpora, and runs.

Each kind of folder answers the same questions in the same way: may a job use the folder, which job writes to it, has an
interrupted job left work, and was that job started with the same options. The job publishes its result as its last
file, and only if no other job has done so.

A folder has at most one unfinished job, which is recorded in its ledger. Each job records its work in a ledger of its
own, so a worker that outlives its job cannot add entries to the next job.
"""

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pydantic import Field

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, storage
from bitcipher.files.records import Record, Time
from pipelines.store.fingerprint import Fingerprint, check_same
from pipelines.store.layout import LEASE, LEDGER
from pipelines.store.lease import Lease, list_generations
from pipelines.store.ledger import EntryKind, Ledger
from pipelines.store.removal import list_names, remove_below, remove_empty

_JOBS = "jobs"
_CURRENT = "current"


class JobEntry(Record):
    """The unfinished job of a folder."""

    id: str
    """Unique id of the job."""
    version: int = Field(ge=1)
    """Number of the version that the job makes."""
    fingerprint: Fingerprint
    """Values that determine the finished work of the job."""
    started: Time


@dataclass(frozen=True)
class FolderKind:
    """A kind of folder, and what its jobs write."""

    content: str
    """What the folder holds, as errors name it, such as "a build"."""
    is_published: Callable[[str], bool]
    """Returns whether a folder holds a result."""
    names: tuple[str, ...] = ()
    """Names in the folder that jobs create, except for that of the lease."""
    entries: tuple[EntryKind[Any], ...] = ()
    """Kinds of the ledger entries of a job."""
    work: EntryKind[Any] | None = None
    """The kind of entries whose work the next job resumes."""
    job_name: str = "job"
    """Name of the kind of the entry of the unfinished job, another one for each kind of folder."""
    advice: str = ""
    """What the user can do about an unfinished job of another version of bitcipher, a sentence."""
    lease: str = LEASE
    """Name of the folder of the lease."""

    @property
    def job(self) -> EntryKind[JobEntry]:
        """The kind of the entry of the unfinished job."""
        return EntryKind(self.job_name, JobEntry, self.advice)

    def check_usable(self, folder: str) -> None:
        """Check that a folder has a result of this kind, was begun by a job of this kind, or is empty.

        A folder of the user can have names of ours, too, but only a job writes a lease.

        Raises:
            BitcipherError: if the folder holds other files.
        """
        names = {name.split("/")[0] for name in storage.list_files(folder)}
        if not names or self.is_published(folder):
            return
        if names - {*self.names, self.lease} or not list_generations(folder, self.lease):
            raise BitcipherError(f"{folder} is not empty, and does not hold {self.content}: choose another folder.")

    def has_work(self, folder: str) -> bool:
        """Return whether a folder holds a result, or work of an interrupted job."""
        work = self.work
        return self.is_published(folder) or (
            work is not None and any(ledger.keys(work) for ledger in list_job_ledgers(folder))
        )

    @contextmanager
    def leasing(self, folder: str) -> Iterator[Lease]:
        """Hold the lease of a folder, and remove what the first job in it wrote if it leaves no work to resume.

        Nothing is removed if the folder was not empty before, if it had an earlier job, or if another job has taken
        over. A folder that existed before is kept.

        Raises:
            BitcipherError: if another job holds the lease, or the folder cannot be written.
        """
        existed, was_empty = storage.exists(folder), not list_names(folder)
        is_removed = False
        try:
            with Lease(folder, self.lease) as lease:
                try:
                    yield lease
                finally:
                    # Errors are ignored, because they would hide the error of the block. The next job uses what
                    # remains.
                    with suppress(BitcipherError):
                        if was_empty and lease.is_first and not self.has_work(folder):
                            is_removed = self._remove_created(folder, lease)
        finally:
            if is_removed:
                remove_empty(storage.join(folder, self.lease))
                if not existed:
                    remove_empty(folder)

    def _remove_created(self, folder: str, lease: Lease) -> bool:
        """Remove the files of a job, and return whether the job held its lease until the end."""
        for name in self.names:
            if not lease.is_held():  # a removal can take long, and another job can take over in the meantime
                return False
            remove_below(folder, name)
        lease.discard()
        return True

    def start_job(self, folder: str, version: int, fingerprint: Fingerprint, advice: str) -> JobEntry:
        """Return the unfinished job of a folder, or record a new one. The lease must be held.

        Args:
            folder: path or URI of the folder.
            version: number of the version that the job makes.
            fingerprint: values that determine the finished work.
            advice: what the user can do if an unfinished job has other values, the end of the error message.

        Raises:
            BitcipherError: if the unfinished job was started with other options.
        """
        folder_ledger(folder).remove_incomplete(self.job)
        for ledger in list_job_ledgers(folder):
            ledger.remove_incomplete(*self.entries)
        unfinished = self.find_job(folder)
        if unfinished is not None and unfinished.version < version:
            folder_ledger(folder).clear()  # it published its version, and stopped before it cleared the ledger
        started = datetime.now(UTC).isoformat(timespec="seconds")
        job = JobEntry(id=uuid.uuid4().hex[:8], version=version, fingerprint=fingerprint, started=started)
        recorded = self.record_job(folder, job)
        check_same(recorded.fingerprint, fingerprint, f"The unfinished job in {folder}", advice)
        return recorded

    def find_job(self, folder: str) -> JobEntry | None:
        """Return the unfinished job of a folder, or None."""
        return folder_ledger(folder).find(self.job, _CURRENT)

    def record_job(self, folder: str, job: JobEntry) -> JobEntry:
        """Record a job, and return it. If the folder has an unfinished job, return that job instead."""
        return folder_ledger(folder).record(self.job, _CURRENT, job)


def publish_version(folder: str, version: int, uri: str, manifest: Record, lease: Lease) -> None:
    """Publish a version of a folder by creating its manifest.

    Args:
        folder: path or URI of the folder.
        version: number of the version.
        uri: path or URI of the manifest.
        manifest: the manifest.
        lease: the lease of the folder, which the job holds.

    Raises:
        BitcipherError: if the job lost its lease, or a version of this number exists.
    """
    lease.check()
    if not storage.create(uri, json_files.to_checked_bytes(manifest.to_dict())):
        raise BitcipherError(
            f"Another job published version {version} of {folder} first, so this result is dropped. Run the same "
            "command again; finished work is not done again."
        )


def folder_ledger(folder: str) -> Ledger:
    """Return the ledger of a folder, which contains the entry of its unfinished job."""
    return Ledger(storage.join(folder, LEDGER))


def job_ledger(folder: str, job: JobEntry) -> Ledger:
    """Return the ledger of a job's work."""
    return Ledger(storage.join(folder, LEDGER, _JOBS, job.id))


def list_job_ledgers(folder: str) -> list[Ledger]:
    """Return the ledgers of all jobs that have entries."""
    jobs = storage.join(folder, LEDGER, _JOBS)
    ids = {name.split("/")[0] for name in storage.list_files(jobs)}
    return [Ledger(storage.join(jobs, each)) for each in sorted(ids)]
