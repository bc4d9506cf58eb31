"""Where stages run: in this process, or on Ray as tasks. The only module that imports Ray.

A stage is a class: it is made once for each worker, with plain arguments, and then called with one row (a dict of
plain values) at a time, to give any number of rows. It knows nothing of where it runs, and writes its results to
storage under names of its own before it tells of them; so both ways give the same files, and a repeated call is
harmless.
"""

import os
import resource
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from bitcipher.errors import BitcipherError, first_line
from pipelines.runtime.events import log_event

Row = dict[str, Any]
Stage = Callable[[Row], Iterable[Row]]

# Workers that may die over one row before it is taken to be the row's fault: none of a hundred accidents is likely
# to hit the same row so often.
ATTEMPTS = 10

# How long a cluster that grows by itself may take until the first node that can run a task is there.
JOIN_SECONDS = 600
# How often to look whether it came.
LOOK_SECONDS = 30


@dataclass(frozen=True)
class StageSpec:
    """A stage that is still to be made where it runs."""

    name: str
    make: Callable[..., Stage]
    arguments: dict[str, Any]


class Runtime(Protocol):
    """A place to run stages in."""

    workers: int

    def stream(self, stage: StageSpec, rows: list[Row]) -> Iterator[Row]:
        """Pass rows through a stage; results come in any order, as they are ready.

        Every result has `costs`, what the stage spent on it (see `MeasuredStage`).
        """


def open_runtime(workers: int, memory_bytes: int = 0) -> AbstractContextManager[Runtime]:
    """This process for 0 workers, else Ray with at most so many tasks at once, each with so much memory of its node."""
    return InProcessRuntime() if workers == 0 else RayRuntime(workers, memory_bytes)


class InProcessRuntime:
    """Runs everything here, row by row."""

    workers = 0

    def __enter__(self) -> "InProcessRuntime":
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def stream(self, stage: StageSpec, rows: list[Row]) -> Iterator[Row]:
        """See `Runtime`."""
        measured = MeasuredStage(stage)
        for row in rows:
            yield from measured(row)


class RayRuntime:
    """Runs stages as Ray tasks, and what was lost with a worker or a node again.

    Joins the cluster of a Ray job or of RAY_ADDRESS; starts Ray on this machine, and stops it afterwards, only if
    there is neither.

    Args:
        workers: tasks at once at most; one CPU each.
        memory_bytes: what a task may take, which Ray keeps count of on each node.
    """

    def __init__(self, workers: int, memory_bytes: int):
        self.workers = workers
        self._memory_bytes = memory_bytes
        self._started_here = False

    def __enter__(self) -> "RayRuntime":
        # Ray reads these when it is imported. Its own notices would stand between our progress and our errors.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
        import ray

        if not ray.is_initialized():
            address = os.environ.get("RAY_ADDRESS", "local")
            here = {"num_cpus": self.workers, "include_dashboard": False} if address == "local" else {}
            try:
                ray.init(address=address, log_to_driver=False, logging_level="ERROR", **here)
            except (ConnectionError, RuntimeError, ValueError) as error:
                raise BitcipherError(f"Cannot reach Ray at {address} ({error}): check RAY_ADDRESS.") from None
            self._started_here = True
        return self

    def __exit__(self, *exception: object) -> None:
        import ray

        if self._started_here:
            ray.shutdown()

    def stream(self, stage: StageSpec, rows: list[Row]) -> Iterator[Row]:
        """See `Runtime`."""
        import ray

        self._check_room(ray.nodes(), waited=0.0)
        # Ray's own retries would hide from us which row a worker died over, and how often.
        task = ray.remote(_run).options(num_cpus=1, memory=self._memory_bytes, max_retries=0, name=stage.name)
        spec = ray.put(stage)
        waiting = deque((row, 1) for row in rows)
        running: dict[Any, tuple[Row, int]] = {}
        asked = time.monotonic()
        try:
            while waiting or running:
                while waiting and len(running) < self.workers:
                    row, attempt = waiting.popleft()
                    running[task.remote(spec, row)] = row, attempt
                done, _ = ray.wait(list(running), timeout=LOOK_SECONDS)
                if not done:
                    self._check_room(ray.nodes(), waited=time.monotonic() - asked)
                    continue
                (ready,) = done
                row, attempt = running.pop(ready)
                try:
                    outcome = ray.get(ready)
                except ray.exceptions.RayTaskError:
                    raise
                except ray.exceptions.RuntimeEnvSetupError as error:
                    raise BitcipherError(f"Ray cannot set up workers for this job: {first_line(error)}.") from None
                except ray.exceptions.RayError as error:
                    if attempt == ATTEMPTS:
                        raise BitcipherError(
                            f"{ATTEMPTS} workers died over the same piece of work of stage {stage.name} "
                            f"({type(error).__name__}): give workers more memory, or look for its cause in Ray's logs."
                        ) from None
                    log_event("worker died", stage=stage.name, row=_label(row), attempt=attempt, error=str(error))
                    waiting.appendleft((row, attempt + 1))
                    continue
                if isinstance(outcome, str):
                    raise BitcipherError(outcome)
                yield from outcome
        finally:
            for reference in running:
                ray.cancel(reference, force=True)

    def _check_room(self, nodes: list[dict[str, Any]], waited: float) -> None:
        """Refuse to wait for ever for a node that can run a task; a cluster that grows is given time to do so."""
        if waited < JOIN_SECONDS and not self._started_here:
            return
        offers = [node["Resources"] for node in nodes if node["Alive"]]
        if not any(offer.get("CPU", 0) >= 1 and offer.get("memory", 0) >= self._memory_bytes for offer in offers):
            largest = max((offer.get("memory", 0) for offer in offers if offer.get("CPU", 0) >= 1), default=0)
            raise BitcipherError(
                f"No node of the Ray cluster has a CPU and {self._memory_bytes / 1e6:,.0f} MB of memory for a worker "
                f"(the most is {largest / 1e6:,.0f} MB): ask for less with --memory-mib, or add larger nodes."
            )


# Of the stage that this worker ran last: a tokenizer that has seen text is not thrown away between two rows.
_made: dict[str, "MeasuredStage"] = {}


def _run(spec: StageSpec, row: Row) -> list[Row] | str:
    """A row's results on a worker, or a user's mistake, to be told in the driver's own words."""
    key = f"{spec.make.__qualname__} {spec.arguments}"
    try:
        if key not in _made:
            _made.clear()
            _made[key] = MeasuredStage(spec)
        results = list(_made[key](row))
    except BitcipherError as error:
        return str(error)
    _count_metrics(spec.name, results)
    return results


def _count_metrics(stage: str, results: list[Row]) -> None:
    """Add what a row gave to the counters that Ray exports for Prometheus."""
    from ray.util.metrics import Counter, Gauge

    tags = {"stage": stage}
    Counter("bitcipher_rows", "Pieces of work that are done", ("stage",)).inc(len(results) or 1, tags)
    for name in ("documents", "text_bytes", "tokens", "entries"):
        if total := sum(result.get(name, 0) for result in results):
            Counter(f"bitcipher_{name}", f"{name.replace('_', ' ')} worked on".capitalize(), ("stage",)).inc(
                total, tags
            )
    for result in results:
        for cost in result["costs"]:
            Counter("bitcipher_cpu_seconds", "CPU seconds spent", ("stage",)).inc(cost["cpu_seconds"] + 1e-9, tags)
            Gauge("bitcipher_peak_bytes", "Most memory a worker held", ("stage",)).set(cost["peak_bytes"], tags)


def _label(row: Row) -> str:
    """What to call a row in a log."""
    return str(row.get("id", row.get("index", "")))


class MeasuredStage:
    """A stage that tells in `costs` of its results what it spent: seconds, CPU seconds and peak memory in bytes."""

    def __init__(self, spec: StageSpec):
        self._name = spec.name
        self._stage = spec.make(**spec.arguments)

    def __call__(self, row: Row) -> Iterator[Row]:
        """The stage's results for a row."""
        wall, cpu = time.perf_counter(), time.process_time()
        for result in self._stage(row):
            spent = {
                "stage": self._name,
                "seconds": time.perf_counter() - wall,
                "cpu_seconds": time.process_time() - cpu,
                "peak_bytes": peak_memory(),
            }
            yield {**result, "costs": [spent]}
            wall, cpu = time.perf_counter(), time.process_time()


def peak_memory() -> int:
    """The most memory that this process has held so far, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
