"""Stage wrapper that measures the cost of each output."""

import time
from collections.abc import Callable, Iterator
from typing import Generic

from pipelines.runtime.costs import CostMeter
from pipelines.runtime.free_memory import release_memory
from pipelines.runtime.runtime import In, Out, StageResult, StageSpec


class MeasuredStage(Generic[In, Out]):
    """Instance of a stage that yields results with their costs.

    Args:
        spec: the stage.
        cpu_clock: clock of the CPU time: of the process, or of a thread if several threads run stages.
    """

    def __init__(self, spec: StageSpec[In, Out], cpu_clock: Callable[[], float] = time.process_time):
        self._cpu_clock = cpu_clock
        self._name = spec.name
        release_memory()  # of the preceding stage
        self._stage = spec.make(**spec.arguments)

    def __call__(self, item: In) -> Iterator[StageResult[Out]]:
        """Yield the outputs for an input, each with the cost since the previous output."""
        outputs = iter(self._stage(item))
        while True:
            with CostMeter(self._cpu_clock) as meter:
                try:
                    value = next(outputs)
                except StopIteration:
                    return
            yield StageResult(self._name, value, meter.cost)
