"""Libraries and processor that determine the last bits of vectors."""

import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path

# Their sums, products and factorizations determine the bytes of vectors.
_LIBRARIES = ("numpy", "scipy", "numba")
_CPU_INFORMATION = Path("/proc/cpuinfo")


@cache
def describe_libraries() -> dict[str, str]:
    """Return the versions of the numerical libraries, and the kind of processor, by name.

    Equal counts and options give equal bytes of vectors if all of these are equal.
    """
    return {name: version(name) for name in _LIBRARIES} | {"processor": _processor()}


def _processor() -> str:
    """Return the model of the processor, or its architecture if the system does not say the model."""
    if _CPU_INFORMATION.exists():
        for line in _CPU_INFORMATION.read_text(errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()
