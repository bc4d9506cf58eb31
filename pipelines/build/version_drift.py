"""Drift: how far a version moved from the one before."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bitcipher.errors import BitcipherError
from bitcipher.evaluation.neighbors import neighbor_overlap, nearest_rows, match_rows
from bitcipher.vectors import CipherVectors
from pipelines.runtime.runtime import Row, StageSpec

# The sample: words evenly spaced over so many of the most frequent ones of the version before. Rarer words have
# neighbors by chance, and would say little.
SAMPLE_WORDS = 128
SAMPLE_RANKS = 10_000

NEIGHBOURS = 10

# Words to show of those that came and went.
EXAMPLES = 10


class DriftError(BitcipherError):
    """A version drifted farther than was allowed; it is not published."""


class DriftStage:
    """Compares vectors with those of the version before.

    Args:
        before: their folder.
    """

    def __init__(self, before: str):
        self._before = CipherVectors.load(before)

    def __call__(self, row: Row) -> Iterator[Row]:
        """From the folder of the new vectors to the drift."""
        yield measure_drift(self._before, CipherVectors.load(row["vectors"]))


def drift_stage(before: str) -> StageSpec:
    """The stage that compares vectors with those of a folder."""
    return StageSpec("drift", DriftStage, {"before": before})


def measure_drift(before: CipherVectors, now: CipherVectors) -> Row:
    """How far vectors moved.

    Returns:
        words_in, words_out: how many words came and went; came, went: the most frequent of them.
        rank_moves: of the words in both, how many have another rank, and by how many ranks the median and the
            ninety-ninth percentile moved.
        neighbors: how many of the ten nearest words of a sample stayed, as a share; sample: how many words it has.
    """
    old, new = (pa.array(vectors.index_to_key, pa.large_string()) for vectors in (before, now))
    places = match_rows(before, now)
    stayed = np.flatnonzero(places >= 0)
    came = new.filter(pc.invert(pc.is_in(new, old)))
    went = old.filter(pa.array(places < 0))
    moves = np.abs(places[stayed] - stayed)
    common = stayed[stayed < SAMPLE_RANKS]
    sample = common[np.linspace(0, len(common) - 1, min(SAMPLE_WORDS, len(common))).astype(np.int64)]
    nearest_before, _ = nearest_rows(before.vectors, sample, NEIGHBOURS)
    nearest_now, _ = nearest_rows(now.vectors, places[sample], NEIGHBOURS)
    kept = neighbor_overlap(places[nearest_before], nearest_now)
    return {
        "words_in": len(came),
        "words_out": len(went),
        "came": came[:EXAMPLES].to_pylist(),
        "went": went[:EXAMPLES].to_pylist(),
        "rank_moves": {
            "words": int(np.count_nonzero(moves)),
            "median": float(np.median(moves)) if len(moves) else 0.0,
            "percentile_99": float(np.percentile(moves, 99)) if len(moves) else 0.0,
        },
        "neighbors": round(float(np.mean(kept)), 4) if len(kept) else 1.0,
        "sample": len(sample),
    }


def check_drift(build: str, drift: Row, max_drift: float | None) -> None:
    """Stop if more neighbors moved away than is allowed.

    Raises:
        DriftError: then.
    """
    moved = 1 - drift["neighbors"]
    if max_drift is not None and moved > max_drift:
        raise DriftError(
            f"The new version of {build} is not published: {moved:.1%} of the neighbors of common words moved away, "
            f"{max_drift:.1%} are allowed ({drift['words_in']:,} words came, {drift['words_out']:,} went). If that is "
            "right, run the same command with a higher --max-drift: nothing is counted again."
        )
