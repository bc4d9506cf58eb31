"""Stages and the runtimes that execute them.

A stage is a class. A runtime creates one instance per worker and calls it with one input at a time. Each call yields
any number of outputs. Stages do not depend on the runtime. A stage writes its files under unique names before it yields
an output that refers to them. Therefore all runtimes give the same results, even if an input is processed twice.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
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
    in_parallel: bool = False
    """Whether several instances can run at the same time in processes that share the memory of this one."""


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
        """Number of instances of a stage that share the memory of this machine, if stages run in this process."""
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
