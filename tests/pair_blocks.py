"""Blocks of pair counts from nested Python objects."""

import numpy as np

from bitcipher.counts.pairs import PairBlock


def block_of(rows):
    """Return the block of (left, offset, {right: n}) rows."""
    return PairBlock(
        np.array([left for left, _, _ in rows], np.int32),
        np.array([offset for _, offset, _ in rows], np.int16),
        np.array([len(pairs) for _, _, pairs in rows], np.int64),
        np.array([right for _, _, pairs in rows for right in pairs], np.int32),
        np.array([n for _, _, pairs in rows for n in pairs.values()], np.int64),
    )
