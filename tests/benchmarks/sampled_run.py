"""Run a command, and sample the memory of all its processes. Linux only."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from measure import HERE, ONE_THREAD
from process_tree import cpu_seconds, high_water_mark, is_ray_worker, resident_of_each

SAMPLE_SECONDS = 0.2


class TreeCost(NamedTuple):
    """Cost of a command and all its descendants.

    The memory of one process is the kernel's high-water mark, which misses no peak, and has all pages that it shares.
    The memory of all processes is sampled, and shared pages are divided among them (PSS).
    """

    seconds: float
    cpu: float
    """CPU seconds, until the last sample."""
    peak: int
    """Highest sampled sum of the bytes of all processes."""
    driver: int
    """Highest bytes of the first process, until the last sample."""
    worker: int
    """Highest bytes of a worker of Ray, until its last sample; 0 without workers."""

    def cells(self) -> list[str]:
        """Return the cells of a Markdown table for COST_COLUMNS."""
        peaks = [f"{bytes / 1e6:,.0f} MB" if bytes else "–" for bytes in (self.driver, self.worker, self.peak)]
        return [f"{self.seconds:,.1f} s", f"{self.cpu:,.1f} s", *peaks]


COST_COLUMNS = ["wall", "CPU", "peak of the driver", "of a worker", "of all processes"]


def run_sampled(
    command: list[object],
    stop: Callable[[], bool] = lambda: False,
    on_sample: Callable[[float, int, int], None] = lambda seconds, now, peak: None,
    stdout: Path | None = None,
) -> TreeCost:
    """Run a command, and return its cost.

    Args:
        command: the program and its arguments.
        stop: called with each sample; the command and its descendants are killed when it returns True.
        on_sample: called with each sample: seconds since the start, bytes now, and highest bytes so far.
        stdout: file for the standard output, which is dropped by default.

    Raises:
        SystemExit: if the command fails.
    """
    print(f"{time.strftime('%H:%M:%S')} {' '.join(map(str, command))[:150]}", file=sys.stderr, flush=True)
    started = time.perf_counter()
    cpu, peak, driver, worker = 0.0, 0, 0, 0
    path = os.pathsep.join([str(HERE.parent.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": path}
    with (
        open(stdout or os.devnull, "wb") as output,
        subprocess.Popen(
            [str(part) for part in command], env=environment, stdout=output, start_new_session=True
        ) as process,
    ):
        try:
            while process.poll() is None:
                each = resident_of_each(process.pid)
                cpu = max(cpu, cpu_seconds(process.pid))
                peak, driver = max(peak, sum(each.values())), max(driver, high_water_mark(process.pid))
                worker = max([worker, *(high_water_mark(pid) for pid in each if is_ray_worker(pid))])
                on_sample(time.perf_counter() - started, sum(each.values()), peak)
                if stop():
                    _kill_all(process.pid)
                time.sleep(SAMPLE_SECONDS)
        except BaseException:
            _kill_all(process.pid)
            raise
        seconds = time.perf_counter() - started
    if process.returncode and not (process.returncode == -signal.SIGKILL and stop()):
        raise SystemExit(f"{command} ended with {process.returncode}.")
    return TreeCost(seconds, cpu, peak, driver, worker)


def _kill_all(root: int) -> None:
    """Kill a process and its descendants."""
    for pid in sorted(resident_of_each(root)):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
