"""Peak memory of a block of code."""

import os
import resource
import sys
import threading

# Interval between two samples of the memory.
SAMPLE_SECONDS = 0.02

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class PeakMemory:
    """Context manager that measures the peak resident memory of this process while a `with` block runs.

    The kernel records the peak since the start of a process. If the block raises this lifetime peak, the new value is
    the exact peak of the block. Otherwise the memory is sampled every `SAMPLE_SECONDS`. Without /proc, the lifetime
    peak is used. The lifetime peak is not reset (/proc/self/clear_refs), because a parent process can read it with
    wait4.
    """

    bytes: int = 0
    """Peak in bytes, valid after the block."""

    def __enter__(self) -> "PeakMemory":
        self._lifetime_peak = lifetime_peak()
        self.bytes = _resident() or self._lifetime_peak
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._sample, name="peak-memory", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._ended.set()
        self._thread.join()
        peak = lifetime_peak()
        self.bytes = peak if peak > self._lifetime_peak else max(self.bytes, _resident() or peak)

    def _sample(self) -> None:
        while not self._ended.wait(SAMPLE_SECONDS):
            self.bytes = max(self.bytes, _resident())


def lifetime_peak() -> int:
    """Return the peak resident memory of this process since it started, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _resident() -> int:
    """Return the resident memory of this process in bytes, 0 if unknown."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * _PAGE_BYTES
    except OSError:
        return 0
