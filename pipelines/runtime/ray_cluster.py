"""Connections to Ray clusters, and calls on each of their nodes."""

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from bitcipher.errors import BitcipherError, last_line


@dataclass(frozen=True)
class RayConnection:
    """Connection to a Ray cluster."""

    is_local: bool
    """Whether this process started the cluster, on this machine. Other nodes cannot join it."""
    dashboard: str | None = None
    """Address of the dashboard inside the cluster, if there is one."""


@dataclass(frozen=True)
class NodeResult:
    """Result of a call on one node of a cluster: a value, or an error."""

    hostname: str
    address: str
    """IP address of the node."""
    cpus: int
    """Number of CPUs of the node."""
    value: Any = None
    """Return value of the function."""
    error: str | None = None
    """Last line of the error message; None if the function returned."""


@contextmanager
def ray_cluster(num_cpus: int, num_gpus: int | None = None) -> Iterator[RayConnection]:
    """Connect to a Ray cluster, or start one on this machine.

    An existing connection of this process is used first, then the cluster of RAY_ADDRESS. Without either, a cluster is
    started. At the end of the block, a new connection is closed, and a new cluster is stopped.

    Args:
        num_cpus: number of CPUs of a new cluster.
        num_gpus: number of GPUs of a new cluster; all GPUs of the machine if not given.

    Raises:
        BitcipherError: if the cluster of RAY_ADDRESS cannot be reached.
    """
    # Ray reads both variables when it is imported. Its messages would mix with progress bars and errors.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    import ray

    if ray.is_initialized():
        yield RayConnection(is_local=False)
        return
    address = os.environ.get("RAY_ADDRESS", "local")
    is_local = address == "local"
    local = {"num_cpus": num_cpus, "num_gpus": num_gpus, "include_dashboard": False} if is_local else {}
    try:
        context = ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **local)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise BitcipherError(f"Cannot reach Ray at {address} ({error}): check RAY_ADDRESS.") from None
    try:
        dashboard = context.dashboard_url
        yield RayConnection(is_local, f"http://{dashboard}" if dashboard else None)
    finally:
        ray.shutdown()


def check_nodes(memory_bytes: int, *, can_join: bool) -> bool:
    """Check that a node of the cluster can run a worker, or can join. Return whether one can run it now.

    Args:
        memory_bytes: memory of a worker, which also takes one CPU.
        can_join: whether larger nodes can join the cluster.

    Raises:
        BitcipherError: if no node can run a worker, and none can join.
    """
    import ray

    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    largest = max((node.get("memory", 0) for node in nodes if node.get("CPU", 0) >= 1), default=0)
    if largest < max(memory_bytes, 1) and not can_join:
        raise BitcipherError(
            f"No node of the Ray cluster has a CPU and {memory_bytes / 2**20:,.0f} MiB of memory for a worker (the "
            f"largest has {largest / 2**20:,.0f} MiB): reduce --memory-mib, or add larger nodes."
        )
    return largest >= max(memory_bytes, 1)


def call_on_each_node(function: Callable[..., Any], *arguments: Any, timeout: float) -> Iterator[NodeResult]:
    """Call a function on each node of the cluster that this process is connected to, and yield the results.

    Args:
        function: a function that each node can import.
        arguments: positional arguments of the function.
        timeout: number of seconds after which a node without a result has the error `GetTimeoutError`.
    """
    import ray
    from ray.exceptions import RayError
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    nodes = [node for node in ray.nodes() if node["Alive"]]
    tasks = [
        ray.remote(num_cpus=0, max_retries=0)(function)
        .options(scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False))
        .remote(*arguments)
        for node in nodes
    ]
    for node, task in zip(nodes, tasks, strict=True):
        names = node["NodeManagerHostname"], node["NodeManagerAddress"], int(node["Resources"].get("CPU", 0))
        try:
            yield NodeResult(*names, value=ray.get(task, timeout=timeout))
        except RayError as error:
            yield NodeResult(*names, error=last_line(error))
