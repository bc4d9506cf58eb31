"""Builds as folders of jobs: the ledger entries that a job records, and those that unfinished jobs refer to."""

from pydantic import Field

from bitcipher.files.records import Count, Record, Strings
from bitcipher.files.table_reference import TableReference
from bitcipher.versions import versions
from pipelines.store.job_folder import FolderKind, list_job_ledgers
from pipelines.store.layout import JOB_FOLDERS
from pipelines.store.ledger import EntryKind
from pipelines.store.manifest import CountedTask
from pipelines.store.segments import Segment


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

# Each entry refers to a table of sources, in a file next to the entry (see `hashed_sources`).
HASHED = EntryKind("hashed", TableReference)
PLANS = EntryKind("plan", CountPlan, _ADVICE)
COUNTED_SHARDS = EntryKind("shard", Segment, _ADVICE)
COUNTED_TASKS = EntryKind("task", CountedTask, _ADVICE)
MERGED_PARTS = EntryKind("merge", MergedPart, _ADVICE)

# Builds, whose counted shards are work that the next job resumes.
BUILD = FolderKind(
    "a build",
    is_published=lambda build: bool(versions(build)),
    names=JOB_FOLDERS,
    entries=(HASHED, PLANS, COUNTED_SHARDS, COUNTED_TASKS, MERGED_PARTS),
    work=COUNTED_SHARDS,
    advice=_ADVICE,
)


def recorded_parts(build: str) -> set[str]:
    """Return the parts that entries of unfinished jobs refer to."""
    parts: set[str] = set()
    for ledger in list_job_ledgers(build):
        for shard in ledger.entries(COUNTED_SHARDS).values():
            parts.update(shard.parts)
        parts.update(entry.part for entry in ledger.entries(MERGED_PARTS).values())
    return parts


def count_recorded_shards(build: str) -> int:
    """Return the number of shards that unfinished jobs have counted, without reading their entries."""
    return len({key for ledger in list_job_ledgers(build) for key in ledger.keys(COUNTED_SHARDS)})
