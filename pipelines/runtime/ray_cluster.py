"""Connections to Ray clusters, and calls on each of their nodes."""

import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bitcipher.errors import BitcipherError, first_line, last_line
from pipelines.runtime.ray_address import check_answers

# Folder of the packages of bitcipher, on this machine.
PACKAGES = Path(__file__).parents[2]


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
        BitcipherError: if Ray does not start, or the cluster of RAY_ADDRESS cannot be reached.
    """
    # Ray reads the variable when it is imported.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    if ray.is_initialized():
        yield RayConnection(is_local=False)
        return
    address = os.environ.get("RAY_ADDRESS", "local")
    is_local = address == "local"
    local = {"num_cpus": num_cpus, "num_gpus": num_gpus, "include_dashboard": False} if is_local else {}
    if not is_local:
        check_answers(address)
    context = _connect(address, local)
    try:
        dashboard = context.dashboard_url
        yield RayConnection(is_local, f"http://{dashboard}" if dashboard else None)
    finally:
        ray.shutdown()


def _job_settings() -> dict[str, Any]:
    """Return the arguments of `ray.init` in a job of `ray job submit` without a hook of its own, none elsewhere.

    Ray lets the workers of a job import modules from its working directory first, where a folder of the user can have
    the name of a package of bitcipher.
    """
    config, hook = os.environ.get("RAY_JOB_CONFIG_JSON_ENV_VAR", ""), "worker_process_setup_hook"
    if not config or hook in config:  # a job has at most one hook
        return {}
    return {"runtime_env": {hook: "bitcipher.__main__.find_own_packages_first"}}


def _connect(address: str, local: dict[str, Any]) -> Any:
    """Call `ray.init` and return its result.

    Raises:
        BitcipherError: if Ray does not start, or cannot be reached.
    """
    import ray
    from ray.exceptions import RayError

    try:
        # Workers import modules from the working directory of the driver first. There, a folder of the user can have
        # the name of a package of bitcipher, so the working directory is the folder of these packages for a moment.
        with _keeping_sigterm(), chdir(PACKAGES):
            settings = {"log_to_driver": False, "logging_level": logging.ERROR, **local, **_job_settings()}
            return ray.init(address=address, **settings)
    except (ConnectionError, TimeoutError, RuntimeError, ValueError, RayError) as error:
        if not local:
            raise BitcipherError(f"Cannot reach Ray at {address} ({first_line(error)}): check RAY_ADDRESS.") from None
        raise _cannot_start(error) from None
    except Exception as error:
        # Ray raises a plain Exception if one of its processes does not start in time.
        if type(error) is not Exception:
            raise
        raise _cannot_start(error) from None


def _cannot_start(error: Exception) -> BitcipherError:
    return BitcipherError(
        f"Ray does not start on this machine ({first_line(error)}): free memory and space for temporary files, or run "
        "with --workers 0."
    )


@contextmanager
def _keeping_sigterm() -> Iterator[None]:
    """Restore the handler of SIGTERM, which Ray replaces. Ray's handlers print a stack trace, and exit with code 15."""
    handler = signal.getsignal(signal.SIGTERM)
    try:
        yield
    except SystemExit:
        raise SystemExit(128 + signal.SIGTERM) from None
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, handler)


def count_workers(memory_bytes: int) -> int:
    """Return the number of workers that the nodes of the cluster can run now, at least 1.

    Args:
        memory_bytes: memory of a worker, which also takes one CPU.
    """
    import ray

    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    return max(1, sum(int(min(node.get("CPU", 0), node.get("memory", 0) // max(memory_bytes, 1))) for node in nodes))


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
