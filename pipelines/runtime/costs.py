"""Costs of stages: time, CPU time and peak memory."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pydantic import Field

from bitcipher.files.records import Record
from pipelines.runtime.peak_memory import PeakMemory

if TYPE_CHECKING:
    from pipelines.runtime.runtime import StageResult


class StageCost(Record):
    """Cost of a stage, or of one of its results."""

    seconds: float = Field(0.0, ge=0)
    """Wall time, summed over workers and threads."""
    cpu_seconds: float = Field(0.0, ge=0)
    """CPU time, summed over workers and threads."""
    peak_bytes: int = Field(0, ge=0)
    """Peak resident memory of one worker while the stage ran."""

    def __add__(self, other: "StageCost") -> "StageCost":
        return StageCost(
            seconds=self.seconds + other.seconds,
            cpu_seconds=self.cpu_seconds + other.cpu_seconds,
            peak_bytes=max(self.peak_bytes, other.peak_bytes),
        )


class CostReport(Record):
    """Costs of a job. Jobs add their own fields and store it as report.json."""

    started: str
    """ISO 8601 time at which the job started."""
    seconds: float = Field(ge=0)
    """Wall time of the job."""
    workers: int = Field(ge=0)
    """Number of workers; 0 if the job ran in one process."""
    stages: dict[str, StageCost]
    """Cost by name of the stage."""


class CostMeter:
    """Context manager that measures the cost of a `with` block in this process.

    Args:
        cpu_clock: clock of the CPU time, of the process or of a thread.
    """

    cost: StageCost
    """Cost of the block, set at its end."""

    def __init__(self, cpu_clock: Callable[[], float] = time.process_time):
        self._cpu_clock = cpu_clock

    def __enter__(self) -> "CostMeter":
        self._wall, self._cpu = time.perf_counter(), self._cpu_clock()
        self._memory = PeakMemory().__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._memory.__exit__(*exception)
        self.cost = StageCost(
            seconds=max(0.0, time.perf_counter() - self._wall),
            cpu_seconds=max(0.0, self._cpu_clock() - self._cpu),
            peak_bytes=self._memory.bytes,
        )


def _cpu_seconds() -> float:
    """Return the CPU time of this process and of its children that have ended."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


class Costs:
    """Accumulator of the costs of the stages of a job."""

    def __init__(self) -> None:
        self._started = datetime.now(UTC)
        self._clock = time.perf_counter()
        self._stages: dict[str, StageCost] = {}

    def add(self, result: "StageResult[Any]") -> None:
        """Add the cost of a stage's result."""
        self._add(result.stage, result.cost)

    @contextmanager
    def measure(self, stage: str) -> Iterator[None]:
        """Add the cost of a `with` block that runs in this process, and in those it forks, to the cost of a stage."""
        with CostMeter(_cpu_seconds) as meter:
            yield
        self._add(stage, meter.cost)

    def report(self, workers: int) -> CostReport:
        """Return the costs so far.

        Args:
            workers: number of workers; 0 if the job runs in one process.
        """
        return CostReport(
            started=self._started.isoformat(timespec="seconds"),
            seconds=time.perf_counter() - self._clock,
            workers=workers,
            stages=dict(self._stages),
        )

    def _add(self, stage: str, cost: StageCost) -> None:
        before = self._stages.get(stage)
        self._stages[stage] = cost if before is None else before + cost
