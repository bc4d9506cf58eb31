"""Drift: how much the neighbors of frequent words changed between two versions."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bitcipher.errors import BitcipherError
from bitcipher.evaluation.neighbors import match_rows, nearest_rows, neighbor_overlap
from bitcipher.vectors.cipher_vectors import CipherVectors
from pipelines.store.manifest import Drift, RankMoves, VectorMoves

# The neighbors of a sample of SAMPLE_WORDS words are compared. The ranks of the sample are evenly spaced among the
# first SAMPLE_RANKS of the previous version, because the neighbors of rarer words are mostly noise.
SAMPLE_WORDS = 128
SAMPLE_RANKS = 10_000

# Number of neighbors per word.
NEIGHBORS = 10

# Number of rows of both tables that are compared at a time.
ROWS_PER_BLOCK = 1 << 16

# Maximum number of words to store: of those added, of those removed, and of those that moved furthest.
EXAMPLES = 10


class DriftError(BitcipherError):
    """Raised if the drift of a new version is above the maximum, and the version is not published."""


class DriftStage:
    """Stage that compares vectors with the previous vectors.

    Args:
        before: folder of the previous vectors.
        same_axes: whether the vectors have the same axes.
    """

    def __init__(self, before: str, same_axes: bool):
        self._before = CipherVectors.load(before, verify=True)
        self._same_axes = same_axes

    def __call__(self, vectors: str) -> Iterator[Drift]:
        """Yield the drift of the vectors in a folder."""
        # The job has just written these vectors, so their digest is not checked.
        yield measure_drift(self._before, CipherVectors.load(vectors), self._same_axes)


def measure_drift(before: CipherVectors, after: CipherVectors, same_axes: bool = False) -> Drift:
    """Return the drift between the vectors of two versions.

    Args:
        before: previous vectors, of length 1.
        after: vectors of length 1 of the new version.
        same_axes: whether the vectors have the same axes, so that vectors of a word can be compared.
    """
    old, new = (pa.array(vectors.index_to_key, pa.large_string()) for vectors in (before, after))
    rows = match_rows(before, after)
    shared = np.flatnonzero(rows >= 0)
    added = new.filter(pc.invert(pc.is_in(new, old)))
    removed = old.filter(pa.array(rows < 0))
    moves = np.abs(rows[shared] - shared)
    frequent = shared[shared < SAMPLE_RANKS]
    sample = frequent[np.linspace(0, len(frequent) - 1, min(SAMPLE_WORDS, len(frequent))).astype(np.int64)]
    nearest_before, _ = nearest_rows(before.vectors, sample, NEIGHBORS)
    nearest_after, _ = nearest_rows(after.vectors, rows[sample], NEIGHBORS)
    overlap = neighbor_overlap(rows[nearest_before], nearest_after)
    return Drift(
        words_in=len(added),
        words_out=len(removed),
        added=tuple(added[:EXAMPLES].to_pylist()),
        removed=tuple(removed[:EXAMPLES].to_pylist()),
        rank_moves=RankMoves(
            words=int(np.count_nonzero(moves)),
            median=float(np.median(moves)) if len(moves) else 0.0,
            percentile_99=float(np.percentile(moves, 99)) if len(moves) else 0.0,
        ),
        neighbors=round(float(np.mean(overlap)), 4) if len(overlap) else 1.0,
        sample=len(sample),
        vector_moves=_measure_moves(before, after, shared, rows[shared]) if same_axes else None,
    )


def _measure_moves(
    before: CipherVectors, after: CipherVectors, rows: np.ndarray, new_rows: np.ndarray
) -> VectorMoves | None:
    """Return how far the same words moved between two tables of unit vectors, by ascending rows of the first.

    Words without context, whose vectors are zeros, are left out. The result is None if there are no others.
    """
    cosines = np.empty(len(rows))
    for start in range(0, len(rows), ROWS_PER_BLOCK):
        part = slice(start, start + ROWS_PER_BLOCK)
        old, new = np.asarray(before.vectors[rows[part]]), np.asarray(after.vectors[new_rows[part]])
        has_context = old.any(axis=1) & new.any(axis=1)
        cosines[part] = np.where(has_context, np.einsum("ij,ij->i", old, new, dtype=np.float64), np.nan)
    rows, cosines = rows[~np.isnan(cosines)], np.clip(cosines[~np.isnan(cosines)], -1, 1).round(4)
    if not len(rows):
        return None
    furthest = np.argsort(cosines[: np.searchsorted(rows, SAMPLE_RANKS)], kind="stable")[:EXAMPLES]
    return VectorMoves(
        median=float(np.median(cosines)),
        percentile_1=float(np.percentile(cosines, 1, method="lower")),
        furthest={before.index_to_key[rows[i]]: float(cosines[i]) for i in furthest},
    )


def check_drift(build: str, drift: Drift, max_drift: float | None) -> None:
    """Check that a drift is at most the maximum.

    Raises:
        DriftError: if the drift is above the maximum.
    """
    changed = 1 - drift.neighbors
    if max_drift is not None and changed > max_drift:
        raise DriftError(
            f"The new version of {build} is not published: {changed:.1%} of the neighbors of frequent words changed, "
            f"above the maximum of {max_drift:.1%} ({drift.words_in:,} words are new, {drift.words_out:,} are gone). "
            "To accept it, run the same command with a higher --max-drift; nothing is counted again."
        )
