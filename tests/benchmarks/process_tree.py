"""CPU seconds and memory of a process and its descendants, from /proc. Linux only."""

from collections.abc import Iterator
from pathlib import Path

TICKS = 100  # clock ticks per second in /proc: USER_HZ of Linux


def cpu_seconds(root: int) -> float:
    """Return the CPU seconds of a process, its descendants, and those descendants that have ended."""
    return sum(sum(map(int, values[11:15])) for _, values in _iter_tree(root)) / TICKS  # utime, stime, cutime, cstime


def resident_bytes(root: int) -> int:
    """Return the resident memory of a process and its descendants. Shared pages count once (PSS)."""
    return sum(resident_of_each(root).values())


def resident_of_each(root: int) -> dict[int, int]:
    """Return the resident memory of a process and of each descendant, by process id, in bytes (PSS)."""
    return {pid: _proportional_bytes(pid) for pid, _ in _iter_tree(root)}


def high_water_mark(pid: int) -> int:
    """Return the highest resident memory of a process so far, in bytes, with all shared pages; 0 if it has ended."""
    return _read_kib(f"/proc/{pid}/status", "VmHWM:") << 10


def is_ray_worker(pid: int) -> bool:
    """Return whether a process is a worker of Ray."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"ray::")
    except OSError:  # ended meanwhile
        return False


def _iter_tree(root: int) -> Iterator[tuple[int, list[str]]]:
    """Yield each process of a tree, with the values of its /proc/PID/stat after the name."""
    values = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            values[int(file.parent.name)] = file.read_text().rpartition(")")[2].split()
        except OSError:  # ended meanwhile
            continue
    tree, found = set(), {root}
    while found:
        tree |= found
        found = {pid for pid, each in values.items() if int(each[1]) in found}
    return ((pid, values[pid]) for pid in tree if pid in values)


def _proportional_bytes(pid: int) -> int:
    return _read_kib(f"/proc/{pid}/smaps_rollup", "Pss:") << 10


def _read_kib(file: str, name: str) -> int:
    """Return the value of a line of a file in /proc, in KiB; 0 if the process has ended."""
    try:
        lines = Path(file).read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(name)), 0)
