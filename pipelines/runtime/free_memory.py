"""Memory that allocators keep after it was freed."""

import ctypes

import pyarrow as pa


def release_memory() -> None:
    """Return freed memory to the operating system.

    Arrow and the C library keep freed memory for later use. What one stage leaves would otherwise be added to what the
    next one needs, and exceed the memory budget.
    """
    pa.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc only
    if trim is not None:
        trim(0)
