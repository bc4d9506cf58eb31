"""Worker processes of Ray nodes on this machine."""

import os
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

# Children of a raylet that are not workers.
AGENTS = ("ray::DashboardAgent", "ray::RuntimeEnvAgent")
IDLE = "ray::IDLE"


class Worker(NamedTuple):
    """Worker process of a node."""

    pid: int
    title: str
    """"ray::" followed by the name of the running task."""

    @property
    def is_busy(self) -> bool:
        """Whether the worker is running a task."""
        return self.title != IDLE


def workers_of(raylets: Collection[int]) -> list[Worker]:
    """Return the workers of nodes, by the process ids of their raylets.

    Other test processes can have clusters of their own, so the names of the processes are not enough.
    """
    return [worker for pid in map(int, filter(str.isdecimal, os.listdir("/proc"))) for worker in _worker(pid, raylets)]


def _worker(pid: int, raylets: Collection[int]) -> list[Worker]:
    with suppress(OSError, ProcessLookupError):
        parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        title = Path(f"/proc/{pid}/cmdline").read_text().strip("\0 ")
        if parent in raylets and title.startswith("ray::") and title not in AGENTS:
            return [Worker(pid, title)]
    return []
