"""Stages and the runtimes that execute them.

A stage is a class. A runtime creates one instance per worker and calls it with one input at a time. Each call yields
any number of outputs. Stages do not depend on the runtime. A stage writes its files under unique names before it yields
an output that refers to them. Therefore all runtimes give the same results, even if an input is processed twice.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, TypeVar

from pipelines.runtime.costs import StageCost

In = TypeVar("In")
Out = TypeVar("Out")

Workers = int | Literal["auto"]
"""Number of workers as a user chooses it."""


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
    in_threads: bool = False
    """Whether instances can run in several threads of a process at the same time, and share its memory."""


@dataclass(frozen=True)
class StageResult(Generic[Out]):
    """One output of a stage, with its cost."""

    stage: str
    """Name of the stage."""
    value: Out
    cost: StageCost


class Runtime(Protocol):
    """Executor of stages."""

    @property
    def workers(self) -> int:
        """Number of worker processes; 0 if stages run in this process."""
        ...

    @property
    def threads(self) -> int:
        """Number of instances of a stage that can share the memory of a process."""
        ...

    @property
    def is_local(self) -> bool:
        """Whether all workers run on this machine."""
        ...

    def expect_text(self, text_bytes: int) -> None:
        """Prepare for stages that read about so many bytes of text."""
        ...

    def stream(self, spec: StageSpec[In, Out], inputs: Sequence[In]) -> Iterator[StageResult[Out]]:
        """Run a stage over inputs, and yield the results as they become ready, in any order.

        Raises:
            BitcipherError: if the stage raises it, or if several workers die on the same input.
        """
        ...


def open_runtime(workers: Workers, memory_bytes: int = 0, threads: int = 1) -> AbstractContextManager[Runtime]:
    """Return a runtime: in process if `workers` is 0, else on a pool of Ray actors.

    Args:
        workers: maximum number of actors; "auto" for one per CPU if there is enough text, else for none.
        memory_bytes: memory that Ray reserves for each actor.
        threads: number of threads if stages run in this process.
    """
    from pipelines.runtime.in_process import InProcessRuntime

    if workers == 0:
        return InProcessRuntime(threads)
    if workers == "auto":
        from pipelines.runtime.auto_runtime import AutoRuntime

        return AutoRuntime(InProcessRuntime(threads), lambda: _on_ray(None, memory_bytes))
    return _on_ray(workers, memory_bytes)


def _on_ray(workers: int | None, memory_bytes: int) -> AbstractContextManager[Runtime]:
    from pipelines.runtime.ray_runtime import RayRuntime

    return RayRuntime(workers, memory_bytes)
