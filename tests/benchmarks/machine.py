"""The machine and the commit of a run, with the standard library alone."""

import hashlib
import os
import platform
import re
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from measure import HERE

PACKAGES = ("numpy", "numba", "pyarrow", "ray")


def describe_commit() -> dict[str, str]:
    """Return the commit of the working tree, and a digest of its uncommitted changes, which is empty if there are none.

    The digest covers the changes of tracked files, and the content of new files.
    """
    new = _git("ls-files", "--others", "--exclude-standard", "-z").split("\0")[:-1]
    root = Path(_git("rev-parse", "--show-toplevel").strip())
    changes = _git("diff", "HEAD", "--binary", "--", ".").encode()
    changes += b"".join(name.encode() + (root / name).read_bytes() for name in sorted(new) if (root / name).is_file())
    return {
        "commit": _git("rev-parse", "HEAD").strip(),
        "changes": hashlib.sha256(changes).hexdigest()[:12] if changes else "",
    }


def describe_machine() -> dict[str, str]:
    """Return processor, cores, memory, caches, and the versions of Python and of the packages that do the work."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": _processor(),
        "cores": str(cores),
        "memory": f"{memory:.0f} GiB",
        "caches": _caches() or "unknown",
        "python": platform.python_version(),
        **{name: _version(name) for name in PACKAGES},
    }


def describe_run() -> dict[str, dict[str, str]]:
    """Return the commit and the machine, with the date of now."""
    return {
        "commit": describe_commit(),
        "machine": describe_machine(),
        "date": {"started": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"},
    }


def run_lines(run: dict[str, dict[str, str]]) -> list[str]:
    """Return the lines of Markdown that name commit, date and machine."""
    commit, machine = run["commit"], run["machine"]
    changes = f"with uncommitted changes ({commit['changes']})" if commit["changes"] else "without uncommitted changes"
    return [
        f"Commit {commit['commit']}, {changes}. {run['date']['started']}.",
        "Machine: " + ", ".join(f"{name} {value}" for name, value in machine.items()) + ".",
    ]


def _git(*arguments: str) -> str:
    root = HERE.parent.parent
    return subprocess.run(["git", "-C", root, *arguments], check=True, capture_output=True).stdout.decode()


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    names = re.findall(r"^model name\s*: (.+)$", information.read_text(), re.MULTILINE) if information.exists() else []
    return names[0] if names else platform.processor() or platform.machine()


def _caches() -> str:
    """Return the caches of the first core as the kernel reports them, or nothing if it does not."""
    found = []
    for cache in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = ((cache / name).read_text().strip() for name in ("level", "type", "size"))
        if kind != "Instruction":
            found.append(f"L{level} {size}")
    return " ".join(found)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in run_lines(describe_run()))
