"""Worker side of the actor pool: runs stages, and exports their metrics."""

import os
from typing import Any

from bitcipher.errors import BitcipherError
from pipelines.lean_imports import leave_out_torch_and_pandas
from pipelines.runtime.measured_stage import MeasuredStage
from pipelines.runtime.runtime import StageResult, StageSpec


class StageActor:
    """Worker process of an actor pool. It keeps the instance of the current stage, with its caches."""

    def __init__(self) -> None:
        # An actor has one CPU. Ray sets the same for OMP_NUM_THREADS; the package tokenizers reads this variable.
        os.environ.setdefault("RAYON_NUM_THREADS", "1")
        leave_out_torch_and_pandas()
        self._key = ""
        self._stage: MeasuredStage[Any, Any] | None = None

    def ready(self) -> None:
        """Return when the process has started."""

    def run(self, spec: StageSpec[Any, Any], item: Any) -> list[StageResult[Any]] | str:
        """Return the results for an input, or the message of a `BitcipherError`, which the driver raises."""
        key = f"{spec.make.__qualname__} {spec.arguments}"
        try:
            if self._stage is None or self._key != key:
                self._stage = None  # frees the memory of the preceding stage before the next one is created
                self._stage, self._key = MeasuredStage(spec), key
            results = list(self._stage(item))
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
