"""What the stages of a build took."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from pipelines.runtime.runtime import peak_memory


class Costs:
    """Adds up seconds and CPU seconds of stages over all workers, and keeps the highest memory of any of them.

    Args:
        workers: how many there are; 0 for this process alone.
    """

    def __init__(self, workers: int):
        self._workers = workers
        self._started = datetime.now(UTC)
        self._clock = time.perf_counter()
        self._stages: dict[str, dict[str, float]] = {}

    def add(self, costs: list[dict[str, Any]]) -> None:
        """Add what a result of a stage brought with it (see `pipelines.runtime.runtime`)."""
        for cost in costs:
            stage = self._stages.setdefault(cost["stage"], {"seconds": 0.0, "cpu_seconds": 0.0, "peak_bytes": 0})
            stage["seconds"] += cost["seconds"]
            stage["cpu_seconds"] += cost["cpu_seconds"]
            stage["peak_bytes"] = max(stage["peak_bytes"], cost["peak_bytes"])

    @contextmanager
    def measured(self, stage: str) -> Iterator[None]:
        """Add what a block takes that runs in this process."""
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self.add(
            [
                {
                    "stage": stage,
                    "seconds": time.perf_counter() - wall,
                    "cpu_seconds": time.process_time() - cpu,
                    "peak_bytes": peak_memory(),
                }
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values: when it began, the seconds from then to now, and each stage's."""
        return {
            "started": self._started.isoformat(timespec="seconds"),
            "seconds": time.perf_counter() - self._clock,
            "workers": self._workers,
            "stages": self._stages,
        }
