"""Status of a build: its versions, and the progress of its unfinished job."""

from dataclasses import dataclass

from bitcipher.errors import BitcipherError
from bitcipher.versions import versions
from pipelines.store.build_folder import BUILD, COUNTED_SHARDS, COUNTED_TASKS, MERGED_PARTS, PLANS
from pipelines.store.job_folder import JobEntry, job_ledger
from pipelines.store.lease import Lease, LeaseHolder


@dataclass(frozen=True)
class BuildStatus:
    """Status of a build."""

    versions: list[int]
    """Numbers of the published versions."""
    holder: LeaseHolder | None
    """The job that is running, or None."""
    job: JobEntry | None
    """The job whose ledger exists, running or not, or None."""
    tasks: int
    """Number of count tasks of the job, 0 before they are planned."""
    tasks_done: int
    """Number of finished count tasks of the job."""
    tokens: int
    """Number of tokens that the job has counted."""
    ranges_merged: int
    """Number of ranges of words that the job has merged."""

    @property
    def is_published(self) -> bool:
        """Whether the job has published its version, and only its ledger is left."""
        return self.job is not None and self.job.version in self.versions


def read_status(build: str) -> BuildStatus:
    """Return the status of a build.

    Raises:
        BitcipherError: if there is neither a version nor a job.
    """
    published = versions(build)
    job = BUILD.find_job(build)
    if not published and job is None:
        raise BitcipherError(f"{build} is not a build, and has no unfinished job. Make a build with `bitcipher build`.")
    planned: set[str] = set()
    tasks_done = tokens = ranges_merged = 0
    if job:
        ledger = job_ledger(build, job)
        planned = {task for plan in ledger.entries(PLANS).values() for task in plan.tasks}
        tasks_done = len(planned & set(ledger.keys(COUNTED_TASKS)))
        tokens = sum(shard.tokens for shard in ledger.entries(COUNTED_SHARDS).values())
        ranges_merged = len(ledger.keys(MERGED_PARTS))
    return BuildStatus(published, Lease(build).holder(), job, len(planned), tasks_done, tokens, ranges_merged)
