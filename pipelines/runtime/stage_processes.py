"""Stages in several processes of this machine, without Ray.

The processes are forked from this one when a stage begins, so they start in milliseconds, with all libraries, with the
stage and with its inputs. Unlike threads, they do not wait for each other's interpreter lock.
"""

import multiprocessing
import os
import signal
import sys
import traceback
import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from multiprocessing.reduction import ForkingPickler
from typing import Any, NamedTuple, cast

from bitcipher.errors import BitcipherError
from pipelines.runtime.measured_stage import MeasuredStage
from pipelines.runtime.runtime import In, Out, StageResult, StageSpec
from pipelines.runtime.stopping import StageStopped, end_if_stopped, stop_when

# On other systems, libraries of linear algebra can fail in a forked process.
CAN_FORK = sys.platform == "linux"

# Seconds in which a process ends after it was asked to; then it is killed.
STOP_SECONDS = 10


class _Worker(NamedTuple):
    process: ForkProcess
    connection: Connection


class _Failed(NamedTuple):
    """Last message of a process that failed."""

    error: BaseException


class _Done(NamedTuple):
    """Message of a process that has processed its input."""


def stream_in_processes(spec: StageSpec[In, Out], inputs: Sequence[In], processes: int) -> Iterator[StageResult[Out]]:
    """Run a stage over inputs, and yield the results as they become ready, in any order.

    If a process fails, or if the caller stops, the others end where they call `end_if_stopped`. They have ended when
    this function returns.

    Args:
        spec: the stage. Each process has its own instance, and all share what it was made with.
        inputs: the inputs.
        processes: maximum number of processes.

    Raises:
        BaseException: what a process raised.
        BitcipherError: if a process was killed.
    """
    stage = MeasuredStage(spec)
    waiting = deque(range(len(inputs)))
    workers: dict[Connection, _Worker] = {}
    try:
        for _ in range(min(processes, len(inputs))):
            worker = _start(stage, inputs, [*workers])
            workers[worker.connection] = worker
            worker.connection.send(waiting.popleft())
        busy = set(workers)
        while busy:
            for connection in wait([*busy]):
                assert isinstance(connection, Connection)
                try:
                    message: Any = connection.recv()
                except (EOFError, ConnectionResetError):
                    raise _killed(spec.name, workers[connection].process) from None
                if isinstance(message, StageResult):
                    yield message
                elif isinstance(message, _Failed):
                    raise message.error
                elif waiting:
                    connection.send(waiting.popleft())
                else:
                    busy.remove(connection)
    finally:
        _stop([*workers.values()])


def _start(stage: MeasuredStage[In, Out], inputs: Sequence[In], others: Sequence[Connection]) -> _Worker:
    """Fork a process that waits for the numbers of inputs.

    Args:
        stage: the stage.
        inputs: the inputs.
        others: this process's ends of the connections to other processes, which a fork would keep open.
    """
    context = multiprocessing.get_context("fork")
    ours, theirs = cast("tuple[Connection, Connection]", context.Pipe())
    process = context.Process(target=_work, args=(stage, inputs, theirs, [ours, *others]), daemon=True)
    with warnings.catch_warnings():
        # Python 3.12 warns if there are threads. Those of a job only renew its lease and draw its progress bars, which
        # the new process does not.
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    theirs.close()
    return _Worker(process, ours)


def _work(
    stage: MeasuredStage[Any, Any], inputs: Sequence[Any], connection: Connection, others: Sequence[Connection]
) -> None:
    """Process inputs until the parent closes the connection."""
    for other in others:
        other.close()
    _let_parent_stop()
    # If the parent has ended, its end of the connection is closed.
    with suppress(EOFError, BrokenPipeError, ConnectionResetError, StageStopped):
        while True:
            item = inputs[connection.recv()]
            try:
                for result in stage(item):
                    connection.send(result)
                    end_if_stopped()
                message = _Done()
            except StageStopped:
                raise
            except BaseException as error:
                message = _Failed(_portable(error))
            connection.send(message)


def _let_parent_stop() -> None:
    """Let `end_if_stopped` end the stage after SIGTERM, or when the parent has ended. Ctrl-C is left to the parent."""
    stopped: list[int] = []
    parent = os.getppid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda number, frame: stopped.append(number))
    stop_when(lambda: bool(stopped) or os.getppid() != parent)


def _portable(error: BaseException) -> BaseException:
    """Return an error that another process can raise, with the traceback of this one except for mistakes of users."""
    if not isinstance(error, BitcipherError):
        error.add_note(f"In another process:\n{traceback.format_exc()}")
    try:
        ForkingPickler.loads(ForkingPickler.dumps(error))  # pyright: ignore[reportAttributeAccessIssue]
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _killed(name: str, process: ForkProcess) -> BitcipherError:
    process.join()
    return BitcipherError(
        f"A process of the stage {name!r} was ended by signal {-(process.exitcode or 0)}, by which the system frees "
        "memory when it has none left: run the same command again, with a smaller `--memory-mib` or on fewer cores. "
        "What was finished is kept."
    )


def _stop(workers: Sequence[_Worker]) -> None:
    """End processes, and wait until they have ended."""
    for worker in workers:
        worker.connection.close()
        worker.process.terminate()
    for worker in workers:
        worker.process.join(STOP_SECONDS)
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()
