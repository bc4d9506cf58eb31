"""Comparison of two tables: changed neighbors and ranks of shared words, added words, and removed words."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bitcipher.evaluation.neighbors import match_rows, nearest_rows, neighbor_overlap
from bitcipher.vectors.cipher_vectors import CipherVectors
from bitcipher.vocabulary import OOV
from pipelines.builds.version_drift import NEIGHBORS, SAMPLE_RANKS
from pipelines.reports.maps.drawing import pack, pack_fractions
from pipelines.reports.maps.layout import choose_rows, unit_rows

# Maximum number of words in each list.
MAX_LISTED = 200


def compare_tables(
    name: str, before: CipherVectors, now: CipherVectors, rows: np.ndarray, neighbors: np.ndarray
) -> dict:
    """Return the field `before` of the page data (see "Page data" in README.md).

    For n words on the page, earlier neighbors are searched among the n most frequent words of the earlier table.

    Args:
        name: name of the earlier table on the page.
        before: the earlier vectors.
        now: the vectors of the page.
        rows: (words,) rows of the page's words in `now`.
        neighbors: (words, neighbors) word numbers of the neighbors of the page's words.
    """
    chosen = choose_rows(before, len(rows))
    # `old_rows` are the rows in `before` of the words of the page. `numbers` are the word numbers on the page of the
    # earlier words.
    old_rows = match_rows(now, before)[rows]
    numbers = _numbers(rows, match_rows(before, now)[chosen])
    queries = _numbers(chosen, old_rows)
    compared = np.flatnonzero(queries >= 0)
    found, cosines = nearest_rows(unit_rows(before, chosen), queries[compared], NEIGHBORS)
    kept = neighbor_overlap(numbers[found], neighbors[compared, :NEIGHBORS])
    others = np.flatnonzero(numbers < 0)
    numbers[others] = len(rows) + np.arange(len(others))
    return {
        "name": name,
        "words": [before.index_to_key[row] for row in chosen[others]],
        "ranks": pack(old_rows + 1),
        "compared": pack(compared),
        "neighbors": pack(numbers[found]),
        "cosines": pack_fractions(cosines),
        "kept": pack_fractions(kept),
        "size": found.shape[1] if len(compared) else 0,
        **_lists(before, now, rows, old_rows, compared, kept),
    }


def _lists(
    before: CipherVectors,
    now: CipherVectors,
    rows: np.ndarray,
    old_rows: np.ndarray,
    compared: np.ndarray,
    kept: np.ndarray,
) -> dict[str, Any]:
    """Return the lists of changed, added and removed words.

    The lists of changes have frequent words only, because neighbors and ranks of rare words are mostly noise.
    """
    frequent = rows[compared] < SAMPLE_RANKS
    candidates, shares = compared[frequent], kept[frequent]
    changed_neighbors = candidates[np.lexsort([candidates, shares])][: np.count_nonzero(shares < 1)][:MAX_LISTED]
    both = np.flatnonzero((old_rows >= 0) & (np.minimum(rows, old_rows) < SAMPLE_RANKS))
    rank_ratios = np.abs(np.log((rows[both] + 1) / (old_rows[both] + 1)))
    changed_ranks = both[np.lexsort([both, -rank_ratios])][: np.count_nonzero(rank_ratios)][:MAX_LISTED]
    new_words, removed_words = _only_in(now, before), _only_in(before, now)
    return {
        "changed_neighbors": pack(changed_neighbors),
        "changed_ranks": pack(changed_ranks),
        "new_words": new_words[:MAX_LISTED].to_pylist(),
        "new_size": len(new_words),
        "removed_words": removed_words[:MAX_LISTED].to_pylist(),
        "removed_size": len(removed_words),
    }


def _only_in(one: CipherVectors, other: CipherVectors) -> pa.LargeStringArray:
    """Return the words of the first table that the second table lacks."""
    words = one.words.filter(pc.invert(pc.is_in(one.words, other.words)))
    return words.filter(pc.not_equal(words, OOV))


def _numbers(chosen: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the position of each row in the sorted array `chosen`, (rows,) int64, or -1 if it is absent."""
    if not len(chosen):
        return np.full(len(rows), -1, np.int64)
    positions = np.searchsorted(chosen, rows).clip(max=len(chosen) - 1)
    return np.where(chosen[positions] == rows, positions, -1)
