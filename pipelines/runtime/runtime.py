"""Stages and the runtimes that execute them.

A stage is a class. A runtime creates one instance per worker, with plain arguments, and calls it with one input at a
time; each call yields any number of outputs. A stage does not know where it runs. It writes its files under unique
names before it yields an output that refers to them, so every runtime gives the same files and a repeated call does no
harm.
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
    """Recipe for a stage, from which each worker makes its own instance.

    Workers reuse an instance for later inputs of an equal spec, so a stage may cache what it has loaded.
    """

    name: str
    """Name in reports, logs and metrics; several stage classes may share one."""
    make: Callable[..., Callable[[In], Iterable[Out]]]
    """The class."""
    arguments: dict[str, Any]
    """Keyword arguments of the class."""


@dataclass(frozen=True)
class StageResult(Generic[Out]):
    """One output of a stage, and the cost of making it."""

    stage: str
    value: Out
    cost: StageCost


class Runtime(Protocol):
    """Executor of stages."""

    workers: int
    """Number of worker processes; 0 if stages run in this process."""

    def stream(self, spec: StageSpec[In, Out], inputs: Sequence[In]) -> Iterator[StageResult[Out]]:
        """Run a stage over inputs, and yield the results in any order, as they become ready.

        Raises:
            BitcipherError: if the stage raises one, or if workers keep dying.
        """
        ...


def open_runtime(workers: int, memory_bytes: int = 0) -> AbstractContextManager[Runtime]:
    """Return a runtime: in process if `workers` is 0, else on Ray.

    Args:
        workers: maximum number of concurrent Ray tasks.
        memory_bytes: memory that Ray reserves for each task.
    """
    if workers == 0:
        from pipelines.runtime.in_process import InProcessRuntime

        return InProcessRuntime()
    from pipelines.runtime.ray_cluster import RayRuntime

    return RayRuntime(workers, memory_bytes)
