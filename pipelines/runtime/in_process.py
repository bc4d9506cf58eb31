"""In-process runtime."""

from collections.abc import Iterator, Sequence
from typing import Self

from pipelines.runtime.measured_stage import MeasuredStage
from pipelines.runtime.runtime import In, Out, StageResult, StageSpec


class InProcessRuntime:
    """Runs stages in this process, one input after another."""

    workers = 0
    is_local = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def expect_text(self, text_bytes: int) -> None:
        """Do nothing."""

    def stream(self, spec: StageSpec[In, Out], inputs: Sequence[In]) -> Iterator[StageResult[Out]]:
        """Run a stage over inputs, and yield the results in order."""
        stage = MeasuredStage(spec)
        for item in inputs:
            yield from stage(item)
