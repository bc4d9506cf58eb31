"""Function that runs the stages of an embedding."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from pipelines.runtime.runtime import In, Out, Runtime, StageResult, StageSpec


class RunStage(Protocol):
    """Function that runs a stage over inputs."""

    def __call__(
        self, make: Callable[..., Callable[[In], Iterator[Out]]], arguments: dict[str, Any], inputs: Sequence[In]
    ) -> Iterator[Out]:
        """Make a stage from keyword arguments, and yield its outputs for the inputs, in any order."""
        ...


def stage_runner(runtime: Runtime, on_result: Callable[[StageResult[Any]], None] = lambda result: None) -> RunStage:
    """Return a function that runs stages on a runtime, with the name "products" in reports.

    Args:
        runtime: runtime of the stages.
        on_result: called with each result of a stage.
    """

    def run(
        make: Callable[..., Callable[[In], Iterator[Out]]], arguments: dict[str, Any], inputs: Sequence[In]
    ) -> Iterator[Out]:
        for result in runtime.stream(StageSpec("products", make, arguments, in_parallel=True), inputs):
            on_result(result)
            yield result.value

    return run
