"""Counter-based random numbers: each number depends on its key, row and column only."""

import hashlib

import numpy as np

from bitcipher.splitmix import GOLDEN, MIX_1, MIX_2

# Factor from an integer of 53 bits, the precision of float64, to [0, 1).
_TO_UNIT = 2.0**-53


def derive_key(*parts: int | str) -> int:
    """Return a key below 2⁶³ for a seed and a purpose, such as `derive_key(seed, "masks")`."""
    return int.from_bytes(hashlib.blake2b(repr(parts).encode(), digest_size=8).digest(), "little") >> 1


def uniform(key: int, rows: np.ndarray, n_columns: int) -> np.ndarray:
    """Return numbers in [0, 1) that depend only on the key, the row's counter and the column.

    Args:
        key: key from `derive_key`.
        rows: [R] integers, one counter per row, such as its position in a run.
        n_columns: numbers per row. A larger value appends numbers to each row.

    Returns:
        [R, n_columns] float64.
    """
    with np.errstate(over="ignore"):
        starts = _mix(np.asarray(rows).astype(np.uint64) * GOLDEN + np.uint64(key))
        bits = _mix(starts[:, None] + np.arange(1, n_columns + 1, dtype=np.uint64) * GOLDEN)
    return (bits >> np.uint64(11)) * _TO_UNIT


def _mix(values: np.ndarray) -> np.ndarray:
    """Return SplitMix64's output function of uint64 values."""
    values = (values ^ (values >> np.uint64(30))) * MIX_1
    values = (values ^ (values >> np.uint64(27))) * MIX_2
    return values ^ (values >> np.uint64(31))
