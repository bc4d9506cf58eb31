"""Stages in several threads of this process.

They are used where processes cannot be forked safely (see `stage_processes`). Most of the work of a stage is done by
functions of numba, NumPy, Arrow and zlib, which release the interpreter lock.
"""

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from queue import SimpleQueue
from typing import Any

from pipelines.runtime.measured_stage import MeasuredStage
from pipelines.runtime.runtime import In, Out, StageResult, StageSpec
from pipelines.runtime.stopping import end_if_stopped, stop_when


@dataclass(frozen=True)
class _Ended:
    """Last message of a thread."""

    error: BaseException | None


@dataclass(frozen=True)
class _Queues:
    """What the threads of a stage share."""

    waiting: SimpleQueue[Any] = field(default_factory=SimpleQueue)
    """Inputs, and a None for each thread."""
    messages: SimpleQueue[StageResult[Any] | _Ended] = field(default_factory=SimpleQueue)
    stopped: threading.Event = field(default_factory=threading.Event)
    """Set when no more results are needed."""


def stream_in_threads(spec: StageSpec[In, Out], inputs: Sequence[In], threads: int) -> Iterator[StageResult[Out]]:
    """Run a stage over inputs, and yield the results as they become ready, in any order.

    If a thread fails, or if the caller stops, the other threads end after their current result, or where they call
    `end_if_stopped`, and have ended when this function returns.

    Args:
        spec: the stage. Each thread has its own instance.
        inputs: the inputs.
        threads: maximum number of threads.

    Raises:
        BaseException: what a thread raised.
    """
    queues = _Queues()
    number = min(threads, len(inputs))
    for item in (*inputs, *repeat(None, number)):
        queues.waiting.put(item)
    pool = [threading.Thread(target=_work, args=(spec, queues), name=spec.name, daemon=True) for _ in range(number)]
    try:
        for thread in pool:
            thread.start()
        for _ in pool:
            while not isinstance(message := queues.messages.get(), _Ended):
                yield message
            if message.error is not None:
                raise message.error
    finally:
        queues.stopped.set()
        for thread in pool:
            if thread.ident is not None:
                thread.join()


def _work(spec: StageSpec[Any, Any], queues: _Queues) -> None:
    """Process inputs until none is waiting, or until no more results are needed."""
    stop_when(queues.stopped.is_set)
    try:
        stage = MeasuredStage(spec, time.thread_time)
        while (item := queues.waiting.get()) is not None:
            for result in stage(item):
                queues.messages.put(result)
                end_if_stopped()
            end_if_stopped()
    except BaseException as error:  # also KeyboardInterrupt: the caller waits for a message of every thread
        queues.messages.put(_Ended(error))
    else:
        queues.messages.put(_Ended(None))
