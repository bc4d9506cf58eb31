"""Early end of the threads and processes of a stage whose results are no longer needed."""

import threading
from collections.abc import Callable


class StageStopped(BaseException):
    """Raised in threads and processes whose results are no longer needed."""


_thread = threading.local()


def stop_when(is_stopped: Callable[[], bool]) -> None:
    """Let `end_if_stopped` end the stage of this thread when the function returns true."""
    _thread.is_stopped = is_stopped


def end_if_stopped() -> None:
    """End the stage of this thread if its results are no longer needed. Functions that take long call this in loops.

    A stage is not interrupted from outside: an exception between any two instructions, as Ctrl-C raises it in the main
    thread, could leave a lock of Python's imports or of numba's compiler locked, or files half written.

    Raises:
        StageStopped: if another thread or process has failed, or if the caller of the stage has stopped.
    """
    is_stopped = getattr(_thread, "is_stopped", None)
    if is_stopped is not None and is_stopped():
        raise StageStopped
