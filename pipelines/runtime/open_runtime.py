"""Choice of a runtime: in this process or on Ray."""

from contextlib import AbstractContextManager

from bitcipher.errors import BitcipherError
from pipelines.runtime.grouping import GroupingRuntime, InProcessGroupingRuntime
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.runtime import Runtime, Workers


def open_runtime(workers: Workers, memory_bytes: int = 0, threads: int = 1) -> AbstractContextManager[Runtime]:
    """Return a runtime: in process if `workers` is 0, else on a pool of Ray actors.

    Args:
        workers: maximum number of actors; "auto" for one per CPU if there is enough text, else for none.
        memory_bytes: memory that Ray reserves for each actor.
        threads: number of threads if stages run in this process.

    Raises:
        BitcipherError: if `workers` is neither a number of workers nor "auto".
    """
    _check_workers(workers)
    if workers == 0:
        return InProcessRuntime(threads)
    if workers == "auto":
        from pipelines.runtime.auto_runtime import AutoRuntime

        return AutoRuntime(InProcessRuntime(threads), lambda: _on_ray(None, memory_bytes))
    return _on_ray(workers, memory_bytes)


def open_grouping_runtime(workers: Workers, memory_bytes: int = 0) -> AbstractContextManager[GroupingRuntime]:
    """Return a runtime that can group rows: in process if `workers` is 0, else on Ray Data.

    Args:
        workers: maximum number of actors; "auto" for one per CPU if there is enough text, else for none.
        memory_bytes: memory that Ray reserves for each actor.

    Raises:
        BitcipherError: if `workers` is neither a number of workers nor "auto".
    """
    _check_workers(workers)
    if workers == 0:
        return InProcessGroupingRuntime()
    if workers == "auto":
        from pipelines.runtime.auto_runtime import AutoGroupingRuntime

        return AutoGroupingRuntime(InProcessGroupingRuntime(), lambda: _on_ray_data(None, memory_bytes))
    return _on_ray_data(workers, memory_bytes)


def _check_workers(workers: Workers) -> None:
    if workers != "auto" and (type(workers) is not int or workers < 0):
        raise BitcipherError(f'`workers` must be 0, a number of workers, or "auto", got {workers!r}.')


def _on_ray(workers: int | None, memory_bytes: int) -> AbstractContextManager[Runtime]:
    from pipelines.runtime.ray_runtime import RayRuntime

    return RayRuntime(workers, memory_bytes)


def _on_ray_data(workers: int | None, memory_bytes: int) -> AbstractContextManager[GroupingRuntime]:
    from pipelines.runtime.ray_data import RayDataRuntime

    return RayDataRuntime(workers, memory_bytes)
