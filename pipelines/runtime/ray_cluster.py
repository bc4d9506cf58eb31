"""Ray clusters, and the runtime that executes stages as Ray tasks.

This is the only module of `pipelines` that imports Ray.
"""

import logging
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from bitcipher.errors import BitcipherError, first_line, last_line
from pipelines.runtime.events import log_event
from pipelines.runtime.measured_stage import MeasuredStage
from pipelines.runtime.runtime import In, Out, StageResult, StageSpec

# Number of worker deaths on one input after which the stage fails. Unrelated failures rarely affect the same input this
# often.
ATTEMPTS = 10

# Maximum time to wait until an autoscaling cluster adds the first node that can run a task.
JOIN_SECONDS = 600
# Interval between two checks of the driver for a node that can run a task.
POLL_SECONDS = 30


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


class RayRuntime:
    """Runs stages as Ray tasks, and retries tasks whose worker or node died.

    Args:
        workers: maximum number of concurrent tasks, with one CPU each.
        memory_bytes: memory that Ray reserves for each task.
    """

    def __init__(self, workers: int, memory_bytes: int):
        self.workers = workers
        self._memory_bytes = memory_bytes
        self._stack = ExitStack()
        self._is_local = False

    def __enter__(self) -> "RayRuntime":
        self._is_local = self._stack.enter_context(ray_cluster(self.workers)).is_local
        return self

    def __exit__(self, *exception: Any) -> None:
        self._stack.__exit__(*exception)

    def stream(self, spec: StageSpec[In, Out], inputs: Sequence[In]) -> Iterator[StageResult[Out]]:
        """Run a stage over inputs, and yield the results as tasks end."""
        import ray
        from ray.exceptions import RayError, RayTaskError, RuntimeEnvSetupError

        self._check_resources(ray.nodes(), waited=0.0)
        # max_retries=0: Ray's own retries would hide on which input a worker died, and how often.
        task = ray.remote(_run_task).options(num_cpus=1, memory=self._memory_bytes, max_retries=0, name=spec.name)
        stored_spec = ray.put(spec)
        waiting = deque((item, 1) for item in inputs)
        running: dict[Any, tuple[In, int]] = {}
        started = time.monotonic()
        try:
            while waiting or running:
                while waiting and len(running) < self.workers:
                    item, attempt = waiting.popleft()
                    running[task.remote(stored_spec, item)] = item, attempt
                done, _ = ray.wait(list(running), timeout=POLL_SECONDS)
                if not done:
                    self._check_resources(ray.nodes(), waited=time.monotonic() - started)
                    continue
                (ready,) = done
                item, attempt = running.pop(ready)
                try:
                    outcome = ray.get(ready)
                except RayTaskError:
                    raise
                except RuntimeEnvSetupError as error:
                    raise BitcipherError(f"Ray cannot set up workers for this job: {first_line(error)}.") from None
                except RayError as error:
                    if attempt == ATTEMPTS:
                        raise BitcipherError(
                            f"{ATTEMPTS} workers died on the same input of stage {spec.name} "
                            f"({type(error).__name__}): give workers more memory, or look for the cause in Ray's logs."
                        ) from None
                    log_event("worker died", stage=spec.name, input=_name(item), attempt=attempt, error=str(error))
                    waiting.appendleft((item, attempt + 1))
                    continue
                if isinstance(outcome, str):
                    raise BitcipherError(outcome)
                yield from outcome
        finally:
            for reference in running:
                ray.cancel(reference, force=True)

    def _check_resources(self, nodes: list[dict[str, Any]], waited: float) -> None:
        """Raise an error if no node can run a task, and the time for new nodes to join is over."""
        if waited < JOIN_SECONDS and not self._is_local:
            return
        offers = [node["Resources"] for node in nodes if node["Alive"]]
        if not any(offer.get("CPU", 0) >= 1 and offer.get("memory", 0) >= self._memory_bytes for offer in offers):
            largest = max((offer.get("memory", 0) for offer in offers if offer.get("CPU", 0) >= 1), default=0)
            raise BitcipherError(
                f"No node of the Ray cluster has a CPU and {self._memory_bytes / 2**20:,.0f} MiB of memory for a "
                f"worker (the largest has {largest / 2**20:,.0f} MiB): reduce --memory-mib, or add larger nodes."
            )


# Stage instance of the last task of this worker, by its spec. It is reused, so that a tokenizer keeps its cache.
_stages: dict[str, MeasuredStage[Any, Any]] = {}


def _run_task(spec: StageSpec[In, Out], item: In) -> list[StageResult[Out]] | str:
    """Return the results for an input, or the message of a `BitcipherError`, which the driver raises."""
    key = f"{spec.make.__qualname__} {spec.arguments}"
    try:
        if key not in _stages:
            _stages.clear()
            _stages[key] = MeasuredStage(spec)
        results = list(_stages[key](item))
    except BitcipherError as error:
        return str(error)
    _count_metrics(spec.name, results)
    return results


def _count_metrics(stage: str, results: list[StageResult[Any]]) -> None:
    """Add results to the counters that Ray exports to Prometheus."""
    from ray.util.metrics import Counter, Gauge

    tags = {"stage": stage}
    Counter("bitcipher_rows", "Stage inputs processed", ("stage",)).inc(len(results) or 1, tags)
    for result in results:
        for name, value in getattr(result.value, "metrics", {}).items():
            if value:
                description = f"{name.replace('_', ' ')} processed".capitalize()
                Counter(f"bitcipher_{name}", description, ("stage",)).inc(value, tags)
        seconds, peak = result.cost.cpu_seconds, result.cost.peak_bytes
        Counter("bitcipher_cpu_seconds", "CPU seconds spent", ("stage",)).inc(seconds + 1e-9, tags)
        Gauge("bitcipher_peak_bytes", "Peak memory of a worker", ("stage",)).set(peak, tags)


def _name(item: object) -> str:
    """Return the name of an input in log events: its `id`, if it has one."""
    return str(getattr(item, "id", ""))
