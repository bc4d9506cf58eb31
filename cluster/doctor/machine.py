"""Checks of a machine, which run on the machine itself: the user's, or a node of a cluster.

This module must not import Ray.
"""

import os
import resource
import shutil
import sys
import tempfile

from bitcipher.cores import available_cores
from cluster.doctor.check_result import CheckResult, check_minimum, ok, warning
from pipelines.runtime.machine_size import memory_bytes

GB = 1e9

# Memory of a worker: about ten times the text of its shard, which is 64 MiB by default.
WORKER_BYTES = 0.7 * GB

# Memory of Python, Ray's own processes and one worker.
MIN_MEMORY_BYTES = 2 * GB

# Share of a node's memory that Ray's object store takes, in shared memory.
OBJECT_STORE_SHARE = 0.3

# Limits of open files. Ray recommends 65,536. The usual 1,024 of a shell is enough for one small machine.
RECOMMENDED_FILES = 65_536
MIN_FILES = 1_024

# Sorted batches are spilled to disk; a smaller disk fills within minutes.
RECOMMENDED_DISK_BYTES = 10 * GB
MIN_DISK_BYTES = 1 * GB


def check_machine() -> list[CheckResult]:
    """Return the results of all checks of this machine."""
    memory, cpus = memory_bytes(), available_cores()
    return [
        check_memory(memory, cpus),
        check_shared_memory(memory),
        check_disk("temporary directory", tempfile.gettempdir()),
        check_open_files(resource.getrlimit(resource.RLIMIT_NOFILE)[0]),
        check_encoding(sys.getfilesystemencoding()),
    ]


def check_memory(memory: float, cpus: int) -> CheckResult:
    """Check that there is enough memory for one worker per CPU.

    Args:
        memory: usable memory in bytes.
        cpus: number of usable CPUs.
    """
    message = f"{memory / GB:.1f} GB for {cpus} CPUs"
    fit = max(1, int((memory - MIN_MEMORY_BYTES) / WORKER_BYTES))
    advice = f"use at most {fit} workers, or smaller shards (--shard-mib)"
    return check_minimum("memory", memory, MIN_MEMORY_BYTES + cpus * WORKER_BYTES, MIN_MEMORY_BYTES, message, advice)


def check_shared_memory(memory: float, path: str = "/dev/shm") -> CheckResult:
    """Check that Ray's object store fits into shared memory.

    Args:
        memory: memory of the machine in bytes.
        path: mount point of shared memory, which only Linux has and needs.
    """
    if not os.path.isdir(path):
        return ok("shared memory", f"This system has no {path}.")
    size, recommended = shutil.disk_usage(path).total, OBJECT_STORE_SHARE * memory
    advice = (
        f"Ray needs {recommended / GB:.1f} GB, else it uses the disk, which is slow; set --shm-size for a container, "
        "or an emptyDir with medium Memory for a pod"
    )
    return check_minimum("shared memory", size, recommended, 0, f"{size / GB:.1f} GB in {path}", advice)


def check_disk(check: str, folder: str, free: float | None = None) -> CheckResult:
    """Check that there is enough free space on a disk.

    Args:
        check: name of the check.
        folder: a directory on the disk.
        free: free space in bytes; None to measure it.
    """
    free = shutil.disk_usage(folder).free if free is None else free
    advice = "counts take about as much space as the text; free some space, or use another disk"
    return check_minimum(
        check, free, RECOMMENDED_DISK_BYTES, MIN_DISK_BYTES, f"{free / GB:.1f} GB free at {folder}", advice
    )


def check_open_files(limit: int) -> CheckResult:
    """Check that the soft limit of open files is high enough."""
    limit = sys.maxsize if limit == resource.RLIM_INFINITY else limit
    message = "No limit of open files" if limit == sys.maxsize else f"At most {limit:,} open files"
    advice = f"run `ulimit -n {RECOMMENDED_FILES}` before `ray start`, or set LimitNOFILE in systemd"
    return check_minimum("open files", limit, RECOMMENDED_FILES, MIN_FILES, message, advice)


def check_encoding(encoding: str) -> CheckResult:
    """Check that file names are UTF-8."""
    if encoding.lower().replace("-", "") == "utf8":
        return ok("encoding", "File names are UTF-8.")
    return warning("encoding", f"File names are {encoding}: set PYTHONUTF8=1, or LANG=C.UTF-8.")
