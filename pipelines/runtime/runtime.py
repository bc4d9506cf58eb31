"""Stages and the runtimes that execute them.

A stage is a class. A runtime creates one instance per worker and calls it with one input at a time. Each call yields
any number of outputs. Stages do not depend on the runtime. A stage writes its files under unique names before it yields
an output that refers to them. Therefore all runtimes give the same results, even if an input is processed twice.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from pipelines.runtime.costs import StageCost

In = TypeVar("In")
Out = TypeVar("Out")


@dataclass(frozen=True)
class StageSpec(Generic[In, Out]):
    """Class and arguments of a stage, from which each worker creates an instance.

    Workers reuse the instance for later inputs with an equal spec, so a stage can cache data.
    """

    name: str
    """Name in reports, logs and metrics. Several stage classes can share a name."""
    make: Callable[..., Callable[[In], Iterable[Out]]]
    """Class of the stage."""
    arguments: dict[str, Any]
    """Keyword arguments of the class."""


@dataclass(frozen=True)
class StageResult(Generic[Out]):
    """One output of a stage, with its cost."""

    stage: str
    """Name of the stage."""
    value: Out
    cost: StageCost


class Runtime(Protocol):
    """Executor of stages."""

    workers: int
    """Number of worker processes; 0 if stages run in this process."""

    def stream(self, spec: StageSpec[In, Out], inputs: Sequence[In]) -> Iterator[StageResult[Out]]:
        """Run a stage over inputs, and yield the results as they become ready, in any order.

        Raises:
            BitcipherError: if the stage raises it, or if several workers die on the same input.
        """
        ...


def open_runtime(workers: int, memory_bytes: int = 0) -> AbstractContextManager[Runtime]:
    """Return a runtime: in process if `workers` is 0, else on a pool of Ray actors.

    Args:
        workers: maximum number of actors.
        memory_bytes: memory that Ray reserves for each actor.
    """
    if workers == 0:
        from pipelines.runtime.in_process import InProcessRuntime

        return InProcessRuntime()
    from pipelines.runtime.ray_runtime import RayRuntime

    return RayRuntime(workers, memory_bytes)
