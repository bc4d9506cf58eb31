"""Run a command as a child process and measure its cost.

The peak memory of a child is at least that of its parent. Therefore this module and its importers use only the standard
library, and process texts and matrices in children.
"""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent

# Threads of linear algebra wait busily, which would count as CPU seconds.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

# Maximum peak memory of this process, because it would hide smaller peaks of children. An interpreter has about 20 MB.
MAX_OWN_PEAK = 64 << 20

_PEAK_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes of ru_maxrss


@dataclass(frozen=True)
class Cost:
    """Cost of a process and the children that it waited for."""

    cpu: float  # seconds, user and system
    peak: int  # bytes, the highest of the process and any of its children
    output: str  # standard output


def run(command: list[object], folder: Path, stdin: Path | None = None, stdout: Path | None = None) -> Cost:
    """Run a command to its end.

    Args:
        command: the program and its arguments.
        folder: working directory.
        stdin: file for the standard input; empty by default.
        stdout: file for the standard output; by default, the output is in the returned cost.

    Raises:
        SystemExit: if the command fails.
    """
    with (
        open(stdin or os.devnull, "rb") as source,
        open(stdout, "wb") if stdout else tempfile.TemporaryFile() as target,
        tempfile.TemporaryFile() as errors,
    ):
        own_peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _PEAK_UNIT
        if own_peak > MAX_OWN_PEAK:
            raise SystemExit(f"The measuring process has grown to {own_peak >> 20} MB, so peaks would be its own.")
        started = time.perf_counter()
        process = subprocess.Popen(
            [str(part) for part in command],
            stdin=source,
            stdout=target,
            stderr=errors,
            cwd=folder,
            env={**os.environ, **ONE_THREAD},
        )
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            process.wait()
            raise
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            raise SystemExit(f"{command} ended with {process.returncode}:\n{errors.read().decode()}")
        if not stdout:
            target.seek(0)
        cost = Cost(
            usage.ru_utime + usage.ru_stime,
            usage.ru_maxrss * _PEAK_UNIT,
            "" if stdout else target.read().decode(),
        )
    _print_cost(command, cost, time.perf_counter() - started)
    return cost


def run_script(name: str, *arguments: object, folder: Path) -> Cost:
    """Run a script of this directory with this interpreter."""
    return run([sys.executable, HERE / name, *arguments], folder)


@contextmanager
def scratch() -> Iterator[Path]:
    """Temporary directory (below TMPDIR, if set) that is always removed."""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        yield Path(folder)


def require_space(folder: Path, needed: int) -> None:
    """Exit with a message if the disk of a directory has less than `needed` bytes of free space."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise SystemExit(
            f"This needs about {needed / 1e9:.0f} GB of disk, and {folder} has {free / 1e9:.0f} GB: "
            "set TMPDIR to a folder with more space, or skip the comparison."
        )


def size_of(path: Path) -> int:
    """Return the size of a file or directory in bytes."""
    return sum(file.stat().st_size for file in [path, *path.rglob("*")] if file.is_file())


def report_of(build: Path) -> dict[str, Any]:
    """Return the report of the job that made the newest version of a build."""
    newest = json.loads(max((build / "versions").glob("*.json")).read_text())
    return json.loads((build / newest["folder"] / "report.json").read_text())


def _print_cost(command: list[object], cost: Cost, seconds: float) -> None:
    shown = " ".join(os.path.basename(str(part)) or str(part) for part in command)
    shown = textwrap.shorten(shown, 120, placeholder=" …")
    print(f"{cost.cpu:8.1f} CPU s {seconds:8.1f} s {cost.peak / 1e6:8.0f} MB  {shown}", file=sys.stderr, flush=True)
