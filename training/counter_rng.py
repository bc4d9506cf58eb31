"""Uniform numbers of counters: the same wherever, and in whatever company, they are asked for."""

import hashlib

import numpy as np

# The constants of SplitMix64 (Steele, Lea & Flood 2014, "Fast splittable pseudorandom number generators").
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)

_TO_UNIT = 2.0**-53  # of the upper 53 bits, as many as a float64 holds


def key_of(*parts: int | str) -> int:
    """A key of what it is for: `key_of(seed, "masks")`.

    Returns:
        A number below 2⁶³; any other parts give another one.
    """
    return int.from_bytes(hashlib.blake2b(repr(parts).encode(), digest_size=8).digest(), "little") >> 1


def uniforms(key: int, rows: np.ndarray, columns: int) -> np.ndarray:
    """Numbers in [0, 1) that depend on the key, the row's number and the column alone.

    Args:
        key: as of `key_of`.
        rows: [R], whole numbers that name the rows, such as positions in a run.
        columns: how many numbers a row has; asking for more does not change the first.

    Returns:
        [R, columns], float64.
    """
    with np.errstate(over="ignore"):
        starts = _mix(np.asarray(rows).astype(np.uint64) * _STEP + np.uint64(key))
        mixed = _mix(starts[:, None] + np.arange(1, columns + 1, dtype=np.uint64) * _STEP)
    return (mixed >> np.uint64(11)) * _TO_UNIT


def _mix(values: np.ndarray) -> np.ndarray:
    values = (values ^ (values >> np.uint64(30))) * _FIRST
    values = (values ^ (values >> np.uint64(27))) * _SECOND
    return values ^ (values >> np.uint64(31))
