"""Faults right before a call that changes the names of files, or flushes a file to the disk."""

import errno
import os
from collections.abc import Callable
from typing import Any

# Every change of a folder passes through these functions of `os`.
WRITING_FUNCTIONS = ("mkdir", "fsync", "replace", "rename", "link")
CHANGING_FUNCTIONS = (*WRITING_FUNCTIONS, "remove", "unlink", "rmdir")
CRASHED = 77


def crash_at(number: int) -> Callable[[], int]:
    """Make the process exit at its `number`-th change. Return a function that returns the number of changes so far."""

    def crash(count: int) -> None:
        if count == number:
            os._exit(CRASHED)

    return _before(CHANGING_FUNCTIONS, crash)


def fill_disk_at(number: int) -> Callable[[], int]:
    """Make each write fail from the `number`-th on. Return a function that returns the number of writes so far."""

    def fail(count: int) -> None:
        if count >= number:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    return _before(WRITING_FUNCTIONS, fail)


def _before(names: tuple[str, ...], fault: Callable[[int], None]) -> Callable[[], int]:
    """Call `fault` with the number of calls so far before each call of some functions of `os`."""
    seen = 0

    def counting(change: Callable[..., Any]) -> Callable[..., Any]:
        def fault_and_change(*arguments: Any, **named: Any) -> Any:
            nonlocal seen
            seen += 1
            fault(seen)
            return change(*arguments, **named)

        return fault_and_change

    for name in names:
        setattr(os, name, counting(getattr(os, name)))
    return lambda: seen
