"""Local Ray cluster of several nodes, whose workers and nodes can be killed."""

import os
import random
import signal
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

# Children of a raylet that are not workers.
AGENTS = ("ray::DashboardAgent", "ray::RuntimeEnvAgent")
IDLE = "ray::IDLE"


class Worker(NamedTuple):
    """Worker process of the cluster."""

    pid: int
    title: str
    """"ray::" followed by the name of the running task."""

    @property
    def is_busy(self) -> bool:
        """Whether the worker is running a task."""
        return self.title != IDLE


class RayNodes:
    """Context manager of a cluster: a head without CPUs, and nodes with one CPU each.

    Args:
        count: number of nodes besides the head.
    """

    def __init__(self, count: int):
        self._count = count

    def __enter__(self) -> "RayNodes":
        from ray.cluster_utils import Cluster

        # Another cluster on this machine may occupy the agent's default port.
        head = {"num_cpus": 0, "include_dashboard": False, "dashboard_agent_listen_port": None}
        self._cluster = Cluster(initialize_head=True, head_node_args=head)
        self._nodes = [self._add() for _ in range(self._count)]
        self.address = self._cluster.address
        return self

    def __exit__(self, *_: object) -> None:
        self._cluster.shutdown()

    def workers(self, node: object = None) -> list[Worker]:
        """Return the workers of a node, or of all nodes."""
        nodes = self._nodes if node is None else [node]
        raylets = {process.process.pid for each in nodes for process in each.all_processes["raylet"]}
        return [
            worker for pid in map(int, filter(str.isdecimal, os.listdir("/proc"))) for worker in _worker(pid, raylets)
        ]

    def kill_worker(self, generator: random.Random) -> list[Worker]:
        """Kill a random worker, preferably a busy one. Return a list of it, which is empty if there is no worker."""
        workers = self.workers()
        candidates = [worker for worker in workers if worker.is_busy] or workers
        if not candidates:
            return []
        worker = generator.choice(candidates)
        with suppress(ProcessLookupError):
            os.kill(worker.pid, signal.SIGKILL)
        return [worker]

    def replace_node(self, generator: random.Random) -> list[Worker]:
        """Kill a random node, preferably a busy one, and add a new node; return the workers of the killed node."""
        busy = [node for node in self._nodes if any(worker.is_busy for worker in self.workers(node))]
        node = generator.choice(busy or self._nodes)
        workers = self.workers(node)
        self._nodes.remove(node)
        self._cluster.remove_node(node, allow_graceful=False)
        self._nodes.append(self._add())
        return workers

    def _add(self) -> object:
        return self._cluster.add_node(num_cpus=1, include_dashboard=False)


def _worker(pid: int, raylets: set[int]) -> list[Worker]:
    with suppress(OSError, ProcessLookupError):
        parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        title = Path(f"/proc/{pid}/cmdline").read_text().strip("\0 ")
        if parent in raylets and title.startswith("ray::") and title not in AGENTS:
            return [Worker(pid, title)]
    return []
