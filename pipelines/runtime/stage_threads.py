"""Stages in several threads of this process.

Most of the work of a stage is done by functions of numba, NumPy, Arrow and zlib that release the interpreter lock, so a
few threads share the cores of a machine almost as well as processes, and start at once.
"""

import ctypes
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import repeat
from queue import SimpleQueue
from typing import Any

from pipelines.runtime.measured_stage import MeasuredStage
from pipelines.runtime.runtime import In, Out, StageResult, StageSpec


class _ThreadStopped(BaseException):
    """Raised in threads whose results are no longer needed."""


@dataclass(frozen=True)
class _Ended:
    """Last message of a thread."""

    error: BaseException | None


def stream_in_threads(spec: StageSpec[In, Out], inputs: Sequence[In], threads: int) -> Iterator[StageResult[Out]]:
    """Run a stage over inputs, and yield the results as they become ready, in any order.

    If a thread fails, or if the caller stops, the other threads are interrupted, as Ctrl-C interrupts the main thread,
    and have ended when this function returns.

    Args:
        spec: the stage. Each thread has its own instance.
        inputs: the inputs.
        threads: maximum number of threads.

    Raises:
        BaseException: what a thread raised.
    """
    waiting: SimpleQueue[In | None] = SimpleQueue()
    number = min(threads, len(inputs))
    for item in (*inputs, *repeat(None, number)):
        waiting.put(item)
    messages: SimpleQueue[StageResult[Out] | _Ended] = SimpleQueue()
    arguments = (spec, waiting, messages)
    pool = [threading.Thread(target=_work, args=arguments, name=spec.name, daemon=True) for _ in range(number)]
    for thread in pool:
        thread.start()
    try:
        for _ in pool:
            while not isinstance(message := messages.get(), _Ended):
                yield message
            if message.error is not None:
                raise message.error
    except BaseException:
        _interrupt(pool)
        raise
    finally:
        for thread in pool:
            thread.join()


def _work(spec: StageSpec[Any, Any], waiting: SimpleQueue[Any], messages: SimpleQueue[Any]) -> None:
    """Process inputs until none is waiting."""
    with suppress(_ThreadStopped):
        try:
            stage = MeasuredStage(spec, time.thread_time)
            while (item := waiting.get()) is not None:
                for result in stage(item):
                    messages.put(result)
        except Exception as error:
            messages.put(_Ended(error))
        else:
            messages.put(_Ended(None))


def _interrupt(pool: Sequence[threading.Thread]) -> None:
    """Interrupt the threads that still run."""
    for thread in pool:
        if thread.is_alive():
            # Python raises the exception in the thread as soon as the thread executes Python code.
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(thread.ident or 0), ctypes.py_object(_ThreadStopped)
            )
