"""In-process runtime."""

from collections.abc import Iterator, Sequence
from typing import Self

from pipelines.runtime.measured_stage import MeasuredStage
from pipelines.runtime.runtime import In, Out, StageResult, StageSpec
from pipelines.runtime.stage_processes import CAN_FORK, stream_in_processes
from pipelines.runtime.stage_threads import stream_in_threads


class InProcessRuntime:
    """Runs stages in this process, and stages that can run several times at once in processes that are forked from it.

    Args:
        threads: number of these processes, or of threads where processes cannot be forked.
    """

    workers = 0
    is_local = True

    def __init__(self, threads: int = 1):
        self.threads = threads

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def expect_text(self, text_bytes: int) -> None:
        """Do nothing."""

    def stream(self, spec: StageSpec[In, Out], inputs: Sequence[In]) -> Iterator[StageResult[Out]]:
        """Run a stage over inputs, and yield the results: in order, or if there are several as they become ready."""
        if spec.in_parallel and self.threads > 1 and len(inputs) > 1:
            yield from (stream_in_processes if CAN_FORK else stream_in_threads)(spec, inputs, self.threads)
            return
        stage = MeasuredStage(spec)
        for item in inputs:
            yield from stage(item)
