"""Number of CPU cores of this process."""

import os


def available_cores() -> int:
    """Return the number of CPU cores that this process is allowed to use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
