"""Memory of this machine, and the number of threads that use it."""

import os
from pathlib import Path

from bitcipher.cores import available_cores

# Share of the memory of the machine that the threads of a process use together. The rest is for other programs and for
# the cache of the disk.
MEMORY_SHARE = 0.75

# Files with the memory limit of a container: cgroup version 2, and version 1.
MEMORY_LIMITS = ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes")


def memory_bytes(root: str = "/") -> float:
    """Return the usable memory in bytes: the limit of the container if there is one, else the memory of the machine.

    Args:
        root: root of the file system, which tests replace.
    """
    total = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for name in MEMORY_LIMITS:
        limit = Path(root, name)
        if limit.is_file() and (text := limit.read_text().strip()).isdigit():
            total = min(total, float(text))
    return total


def threads_of(thread_bytes: int) -> int:
    """Return how many threads a process can use: one per core, if the machine has the memory for them.

    Args:
        thread_bytes: memory of each thread.
    """
    return max(1, min(available_cores(), int(memory_bytes() * MEMORY_SHARE) // thread_bytes))
