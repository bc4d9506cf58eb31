"""How far a build is, read from its ledger while the job runs, or after it was stopped."""

from dataclasses import dataclass
from typing import Any

from bitcipher import storage
from bitcipher.errors import BitcipherError
from bitcipher.versions import versions
from pipelines.store import layout
from pipelines.build.job import JOB, ledger_of_job
from pipelines.store.lease import Lease
from pipelines.store.ledger import Ledger


@dataclass(frozen=True)
class Status:
    """What there is of a build."""

    versions: list[int]
    """Those that are published."""
    holder: dict[str, Any] | None
    """The job at work: host, pid, started and time of its last sign of life; None if there is none."""
    job: dict[str, Any] | None
    """The job that is not finished, running or stopped: version and started."""
    tasks: int
    """Tasks that it has to count, 0 if it does not know yet."""
    tasks_done: int
    tokens: int
    """Tokens that it has counted."""
    ranges_merged: int


def read_status(build: str) -> Status:
    """The status of a build.

    Raises:
        BitcipherError: if there is neither a version nor a job.
    """
    published = versions(build)
    job = Ledger(storage.join(build, layout.LEDGER)).find(JOB)
    if not published and job is None:
        raise BitcipherError(f"{build} is not a build, and no job is making one there; start one by `bitcipher build`.")
    done = ledger_of_job(build, job).entries() if job else {}
    planned = {task for key, plan in done.items() if key.startswith("plan/") for task in plan["tasks"]}
    return Status(
        versions=published,
        holder=Lease(build).holder(),
        job=job,
        tasks=len(planned),
        tasks_done=sum(f"count/{task}/done" in done for task in planned),
        tokens=sum(entry.get("tokens", 0) for entry in done.values()),
        ranges_merged=sum(key.startswith("merge/") for key in done),
    )
