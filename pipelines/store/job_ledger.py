"""Ledger entries of a build's jobs.

A build has at most one unfinished job, which is recorded in the ledger of the build. Each job records its work in a
separate ledger, so a worker that outlives its job cannot add entries to the next job.
"""

from collections.abc import Iterator

from pydantic import Field

from bitcipher.files import storage
from bitcipher.files.records import Count, Record, Strings, Time
from pipelines.store.fingerprint import Fingerprint
from pipelines.store.hashed_sources import HASHED
from pipelines.store.layout import LEDGER
from pipelines.store.ledger import EntryKind, Ledger
from pipelines.store.manifest import CountedTask
from pipelines.store.segments import Segment

_JOBS = "jobs"
_CURRENT = "current"


class JobEntry(Record):
    """The unfinished job of a build."""

    id: str
    """Unique id of the job."""
    version: int = Field(ge=1)
    """Number of the version that the job makes."""
    fingerprint: Fingerprint
    started: Time


class CountPlan(Record):
    """Count tasks that an attempt of a job has planned."""

    tasks: Strings
    """Ids of the tasks."""
    text_bytes: Count
    """Estimated number of bytes of text of the tasks."""


class MergedPart(Record):
    """Part of a merged segment: one range of its words."""

    part: str
    """Path of the part, relative to the build."""
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    """SHA-256 of the file of words of the part."""
    entries: Count
    """Number of pairs."""
    digest: str = Field(pattern="^[0-9a-f]{32}$")
    """Digest of the words and pairs."""


_ADVICE = "Drop the unfinished job with `bitcipher prune --unfinished`, then run its command again."

JOB = EntryKind("job", JobEntry, _ADVICE)
PLANS = EntryKind("plan", CountPlan, _ADVICE)
COUNTED_SHARDS = EntryKind("shard", Segment, _ADVICE)
COUNTED_TASKS = EntryKind("task", CountedTask, _ADVICE)
MERGED_PARTS = EntryKind("merge", MergedPart, _ADVICE)

# Kinds of the entries of a job's work.
JOB_KINDS = (HASHED, PLANS, COUNTED_SHARDS, COUNTED_TASKS, MERGED_PARTS)


def build_ledger(build: str) -> Ledger:
    """Return the ledger of a build, which contains the entry of its unfinished job."""
    return Ledger(storage.join(build, LEDGER))


def find_job(build: str) -> JobEntry | None:
    """Return the unfinished job of a build, or None."""
    return build_ledger(build).find(JOB, _CURRENT)


def record_job(build: str, job: JobEntry) -> JobEntry:
    """Record a job, and return it. If the build has an unfinished job, return that job instead."""
    return build_ledger(build).record(JOB, _CURRENT, job)


def job_ledger(build: str, job: JobEntry) -> Ledger:
    """Return the ledger of a job's work."""
    return Ledger(storage.join(build, LEDGER, _JOBS, job.id))


def remove_incomplete_entries(build: str) -> None:
    """Remove the entries of a build's jobs that are not complete. The lease must be held."""
    build_ledger(build).remove_incomplete(JOB)
    for ledger in all_job_ledgers(build):
        ledger.remove_incomplete(*JOB_KINDS)


def all_job_ledgers(build: str) -> Iterator[Ledger]:
    """Yield the ledgers of all jobs that have entries."""
    folder = storage.join(build, LEDGER, _JOBS)
    for job in sorted({name.split("/")[0] for name in storage.list_files(folder)}):
        yield Ledger(storage.join(folder, job))


def recorded_parts(build: str) -> set[str]:
    """Return the parts that entries of unfinished jobs refer to."""
    parts: set[str] = set()
    for ledger in all_job_ledgers(build):
        for shard in ledger.entries(COUNTED_SHARDS).values():
            parts.update(shard.parts)
        parts.update(entry.part for entry in ledger.entries(MERGED_PARTS).values())
    return parts


def count_recorded_shards(build: str) -> int:
    """Return the number of shards that unfinished jobs have counted, without reading their entries."""
    return len({key for ledger in all_job_ledgers(build) for key in ledger.keys(COUNTED_SHARDS)})
