"""Where stages run: in this process, or on Ray in pools of actors. The only module that imports Ray.

A stage is a class: it is made once for each worker, with plain arguments, and then called with one row (a dict of
plain values) at a time, to give any number of rows. It knows nothing of where it runs, and writes its results to
storage under names that follow from the row; so both ways give the same files, and a repeated call is harmless.
"""

import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from bitcipher.errors import BitcipherError

Row = dict[str, Any]
Stage = Callable[[Row], Iterable[Row]]


@dataclass(frozen=True)
class StageSpec:
    """A stage that is still to be made where it runs."""

    name: str
    make: Callable[..., Stage]
    arguments: dict[str, Any]


class Runtime(Protocol):
    """A place to run stages in."""

    workers: int

    def stream(self, stages: list[StageSpec], rows: list[Row]) -> Iterator[Row]:
        """Pass rows through the stages, one behind another; results come in any order, as they are ready.

        Every result has `costs`, what the stages spent on it (see `Cost`).
        """


def open_runtime(workers: int) -> AbstractContextManager[Runtime]:
    """This process for 0 workers, else Ray with up to so many actors for each stage."""
    return InProcess() if workers == 0 else OnRay(workers)


class InProcess:
    """Runs everything here, row by row."""

    workers = 0

    def __enter__(self) -> "InProcess":
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def stream(self, stages: list[StageSpec], rows: list[Row]) -> Iterator[Row]:
        """See `Runtime`."""
        results: Iterable[Row] = ({**row, "costs": []} for row in rows)
        for spec in stages:
            results = _through(MeasuredStage(spec), results)
        yield from results


class OnRay:
    """Runs stages as pools of actors under Ray Data.

    Joins the cluster of a Ray job or of RAY_ADDRESS; starts Ray on this machine, and stops it afterwards, only if
    there is neither.

    Args:
        workers: actors of a stage at most; one CPU each.
    """

    def __init__(self, workers: int):
        self.workers = workers
        self._started_here = False

    def __enter__(self) -> "OnRay":
        # Ray reads these when it is imported. Its own notices would stand between our progress and our errors.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_DATA_LOG_LEVEL", "ERROR")
        os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
        import ray

        if not ray.is_initialized():
            address = os.environ.get("RAY_ADDRESS", "local")
            # A pool for each of two stages must find room, or neither would ever end.
            here = {"num_cpus": self.workers + 1, "include_dashboard": False} if address == "local" else {}
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

    def stream(self, stages: list[StageSpec], rows: list[Row]) -> Iterator[Row]:
        """See `Runtime`."""
        import ray

        cpus = int(ray.cluster_resources().get("CPU", 0))
        if cpus < len(stages):
            raise BitcipherError(f"The Ray cluster has {cpus} CPUs, but {len(stages)} stages need one each: add nodes.")
        ray.data.DataContext.get_current().enable_progress_bars = False
        if not rows:
            return
        # A block for each row, so that rows are dealt out one at a time; and rows as JSON, so that Arrow has no
        # say in their types.
        items = [{"row": json.dumps({**row, "costs": []})} for row in rows]
        dataset = ray.data.from_items(items, override_num_blocks=len(items))
        for spec in stages:
            dataset = dataset.flat_map(
                _JsonStage,
                fn_constructor_args=(spec,),
                compute=ray.data.ActorPoolStrategy(min_size=1, max_size=self.workers),
                num_cpus=1,
            )
        for result in dataset.iter_rows():
            row = json.loads(result["row"])
            if "error" in row:
                raise BitcipherError(row["error"])
            yield row


class MeasuredStage:
    """A stage that adds what it spent to its results' `costs`: stage, seconds, CPU seconds and peak memory in bytes."""

    def __init__(self, spec: StageSpec):
        self._name = spec.name
        self._stage = spec.make(**spec.arguments)

    def __call__(self, row: Row) -> Iterator[Row]:
        """The stage's results for a row."""
        costs = row.pop("costs")
        wall, cpu = time.perf_counter(), time.process_time()
        for result in self._stage(row):
            spent = {
                "stage": self._name,
                "seconds": time.perf_counter() - wall,
                "cpu_seconds": time.process_time() - cpu,
                "peak_bytes": peak_memory(),
            }
            yield {**result, "costs": [*costs, spent]}
            # What the row cost before belongs to its first result alone, or it would be counted twice.
            costs = []
            wall, cpu = time.perf_counter(), time.process_time()


class _JsonStage:
    """A stage for Ray Data: rows as JSON, and a user's mistake as a row, to be told in this process's own words."""

    def __init__(self, spec: StageSpec):
        self._spec = spec
        self._stage: MeasuredStage | None = None

    def __call__(self, item: dict[str, str]) -> list[dict[str, str]]:
        row = json.loads(item["row"])
        if "error" in row:
            return [item]
        try:
            self._stage = self._stage or MeasuredStage(self._spec)
            return [{"row": json.dumps(result)} for result in self._stage(row)]
        except BitcipherError as error:
            return [{"row": json.dumps({"error": str(error)})}]


def peak_memory() -> int:
    """The most memory that this process has held so far, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _through(stage: Stage, rows: Iterable[Row]) -> Iterator[Row]:
    for row in rows:
        yield from stage(row)
