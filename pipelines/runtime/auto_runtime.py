"""Runtimes that choose by the amount of text whether stages run in this process or on workers."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any, Generic, Self, TypeVar

import pyarrow as pa

from bitcipher.cores import available_cores
from pipelines.runtime.grouping import GroupingRuntime
from pipelines.runtime.runtime import In, Out, Runtime, StageResult, StageSpec

# Amount of text from which workers save time. Starting Ray and two workers takes as long as counting a quarter of it.
MIN_TEXT_BYTES = 256 << 20

AnyRuntime = TypeVar("AnyRuntime", bound=Runtime)


class AutoRuntime(Generic[AnyRuntime]):
    """Runs stages in this process, and on workers as soon as there is enough text for them.

    Without a cluster, the workers run on this machine, if it has several cores.

    Args:
        in_process: runtime of this process.
        open_workers: opens the runtime with workers.
    """

    def __init__(self, in_process: AnyRuntime, open_workers: Callable[[], AbstractContextManager[AnyRuntime]]):
        self._runtime = in_process
        self._open_workers = open_workers
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: Any) -> None:
        self._stack.__exit__(*exception)

    @property
    def workers(self) -> int:
        """Number of worker processes; 0 while stages run in this process."""
        return self._runtime.workers

    @property
    def threads(self) -> int:
        """Number of instances of a stage that can share the memory of a process."""
        return self._runtime.threads

    @property
    def is_local(self) -> bool:
        """Whether all workers run on this machine."""
        return self._runtime.is_local

    def expect_text(self, text_bytes: int) -> None:
        """Start workers, if they save time with this amount of text."""
        has_cores = "RAY_ADDRESS" in os.environ or available_cores() > 1
        if not self.workers and has_cores and text_bytes >= MIN_TEXT_BYTES:
            self._runtime = self._stack.enter_context(self._open_workers())

    def stream(self, spec: StageSpec[In, Out], inputs: Sequence[In]) -> Iterator[StageResult[Out]]:
        """Run a stage over inputs, and yield the results as they become ready, in any order."""
        return self._runtime.stream(spec, inputs)


class AutoGroupingRuntime(AutoRuntime[GroupingRuntime]):
    """Runtime that also groups rows, in this process or on workers."""

    def group(
        self,
        read: StageSpec[In, pa.Table],
        inputs: Sequence[In],
        group: StageSpec[pa.Table, pa.Table],
        partitions: int,
    ) -> Iterator[pa.Table]:
        """Bring rows with equal keys together, and yield the results of each partition, in any order."""
        return self._runtime.group(read, inputs, group, partitions)
