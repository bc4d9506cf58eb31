"""How much a command tells about its work while it runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import IntEnum


class Verbosity(IntEnum):
    """Amount of output besides results, warnings and errors."""

    QUIET = 0
    """No progress."""
    NORMAL = 1
    """Progress of the stages."""
    VERBOSE = 2
    """Also the events of the job, such as each counted shard."""


_CURRENT = ContextVar("verbosity", default=Verbosity.NORMAL)


def current_verbosity() -> Verbosity:
    """Return the verbosity of the running command."""
    return _CURRENT.get()


@contextmanager
def using_verbosity(verbosity: Verbosity) -> Iterator[None]:
    """Set the verbosity for a `with` block."""
    token = _CURRENT.set(verbosity)
    try:
        yield
    finally:
        _CURRENT.reset(token)
