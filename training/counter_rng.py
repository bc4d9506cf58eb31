"""Counter-based random numbers: each number depends on its key, row and column only."""

import hashlib

import numpy as np

# The constants of SplitMix64 (Steele, Lea & Flood 2014, "Fast splittable pseudorandom number generators").
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)

_TO_UNIT = 2.0**-53  # for the upper 53 bits, the precision of a float64


def derive_key(*parts: int | str) -> int:
    """Return a key below 2⁶³ for a seed and a purpose, such as `derive_key(seed, "masks")`."""
    return int.from_bytes(hashlib.blake2b(repr(parts).encode(), digest_size=8).digest(), "little") >> 1


def uniform(key: int, rows: np.ndarray, n_columns: int) -> np.ndarray:
    """Return numbers in [0, 1) that depend only on the key, the row's counter and the column.

    Args:
        key: key from `derive_key`.
        rows: [R] integers, the counters of the rows, such as positions in a run.
        n_columns: numbers per row. A larger value does not change the first ones.

    Returns:
        [R, n_columns] float64.
    """
    with np.errstate(over="ignore"):
        starts = _mix(np.asarray(rows).astype(np.uint64) * _STEP + np.uint64(key))
        mixed = _mix(starts[:, None] + np.arange(1, n_columns + 1, dtype=np.uint64) * _STEP)
    return (mixed >> np.uint64(11)) * _TO_UNIT


def _mix(values: np.ndarray) -> np.ndarray:
    values = (values ^ (values >> np.uint64(30))) * _FIRST
    values = (values ^ (values >> np.uint64(27))) * _SECOND
    return values ^ (values >> np.uint64(31))
