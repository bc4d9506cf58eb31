"""Checks of the machine that they run on; of each node too, so nothing here may import Ray."""

import os
import resource
import shutil
import sys
import tempfile
from pathlib import Path

from cluster.doctor.finding import CheckResult, judge, ok, warning

GB = 1e9

# A worker takes about ten times the text of its shard, which is 64 MB unless one asks for other shards.
WORKER_BYTES = 0.7 * GB

# Python, Ray's own processes and one worker.
LEAST_MEMORY_BYTES = 2 * GB

# Ray's object store takes that share of a node's memory, and lies in shared memory.
OBJECT_STORE_SHARE = 0.3

# Ray asks for 65,536; the usual 1,024 of a shell is enough for a small machine alone.
WANTED_FILES = 65_536
FEWEST_FILES = 1_024

# Sorted runs are spilled there. Less than the first fills within minutes.
WANTED_DISK_BYTES = 10 * GB
LEAST_DISK_BYTES = 1 * GB

# Version 2, as containers have it; and version 1.
MEMORY_LIMITS = ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes")


def check_machine() -> list[CheckResult]:
    """All checks of a machine."""
    memory, cpus = memory_bytes(), cpu_count()
    return [
        check_memory(memory, cpus),
        check_shared_memory(memory),
        check_disk("temporary folder", tempfile.gettempdir()),
        check_open_files(resource.getrlimit(resource.RLIMIT_NOFILE)[0]),
        check_encoding(sys.getfilesystemencoding()),
    ]


def check_memory(memory: float, cpus: int) -> CheckResult:
    """Whether there is enough memory for a worker on each CPU.

    Args:
        memory: bytes.
        cpus: as many as may be used.
    """
    says = f"{memory / GB:.1f} GB for {cpus} CPUs"
    fit = max(1, int((memory - LEAST_MEMORY_BYTES) / WORKER_BYTES))
    advice = f"use {fit} workers at most, or smaller shards (--shard-mib)"
    return judge("memory", memory, LEAST_MEMORY_BYTES + cpus * WORKER_BYTES, LEAST_MEMORY_BYTES, says, advice)


def check_shared_memory(memory: float, path: str = "/dev/shm") -> CheckResult:
    """Whether Ray's object store fits into shared memory.

    Args:
        memory: bytes of the machine.
        path: where shared memory is mounted; other systems than Linux have no such place, nor need it.
    """
    if not os.path.isdir(path):
        return ok("shared memory", f"This system has no {path}.")
    size, wanted = shutil.disk_usage(path).total, OBJECT_STORE_SHARE * memory
    advice = (
        f"Ray wants {wanted / GB:.1f} GB and would use the disk, which is slow; give a container more by --shm-size, "
        "or a pod an emptyDir with medium Memory"
    )
    return judge("shared memory", size, wanted, 0, f"{size / GB:.1f} GB in {path}", advice)


def check_disk(check: str, folder: str, free: float | None = None) -> CheckResult:
    """Whether there is room on a disk.

    Args:
        check: what the folder is to us.
        folder: on the disk.
        free: bytes; None to look.
    """
    free = shutil.disk_usage(folder).free if free is None else free
    advice = "counts take about as much as the text itself; free some, or use another disk"
    return judge(check, free, WANTED_DISK_BYTES, LEAST_DISK_BYTES, f"{free / GB:.1f} GB are free at {folder}", advice)


def check_open_files(limit: int) -> CheckResult:
    """Whether a process may open enough files: the soft limit."""
    limit = sys.maxsize if limit == resource.RLIM_INFINITY else limit
    says = "No limit of open files" if limit == sys.maxsize else f"At most {limit:,} open files"
    advice = f"`ulimit -n {WANTED_FILES}` before `ray start`, or LimitNOFILE of systemd"
    return judge("open files", limit, WANTED_FILES, FEWEST_FILES, says, advice)


def check_encoding(encoding: str) -> CheckResult:
    """Whether file names are UTF-8."""
    if encoding.lower().replace("-", "") == "utf8":
        return ok("encoding", "File names are UTF-8.")
    return warning("encoding", f"File names are {encoding}: set PYTHONUTF8=1, or LANG=C.UTF-8.")


def memory_bytes(root: str = "/") -> float:
    """The memory that may be used, in bytes: the machine's, or less in a container.

    Args:
        root: where the file system begins.
    """
    total = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for name in MEMORY_LIMITS:
        limit = Path(root, name)
        if limit.is_file() and (text := limit.read_text().strip()).isdigit():
            total = min(total, float(text))
    return total


def cpu_count() -> int:
    """The CPUs that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
