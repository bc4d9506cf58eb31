"""Number of CPU cores, and of threads that use them."""

import os

from pipelines.runtime.memory_budget import BYTES_PER_THREAD, LIBRARY_BYTES


def available_cores() -> int:
    """Return the number of CPU cores that this process is allowed to use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads_within(memory_bytes: int) -> int:
    """Return how many threads a process can use: one per core, if its memory is enough for them.

    Args:
        memory_bytes: memory of the process.
    """
    return max(1, min(available_cores(), (memory_bytes - LIBRARY_BYTES) // BYTES_PER_THREAD))
