import numpy as np

from pipelines.runtime.free_memory import release_memory

ARRAYS, WORDS = 4_000, 1 << 13  # arrays of 64 KiB, which the C library takes from its heap


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def test_freed_memory_is_returned_to_the_system():
    arrays = [np.ones(WORDS) for _ in range(ARRAYS)]
    kept = arrays[::100]  # the heap does not shrink while its end is in use
    del arrays
    before = resident_bytes()
    release_memory()
    assert resident_bytes() < before - ARRAYS * WORDS * 8 // 2
    assert len(kept) == ARRAYS // 100
