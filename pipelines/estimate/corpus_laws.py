"""Growth laws of a corpus, from a sample and from the counts of a build."""

import math
from dataclasses import dataclass

import numpy as np

from pipelines.estimate.calibrate import Calibration
from pipelines.estimate.growth_law import PAIRS_BENDING, WORDS_BENDING, Bound, GrowthLaw, fit_growth_law
from pipelines.store.stored_versions import StoredVersion


@dataclass(frozen=True)
class CorpusLaws:
    """Sizes of a corpus as functions of its number of tokens; see `GrowthPoint`."""

    types: GrowthLaw
    chunks: GrowthLaw
    entries: GrowthLaw
    row_entries: GrowthLaw
    landmark_entries: GrowthLaw
    thinning: float
    """Ratio from which the vocabulary is predicted: the vocabulary of a corpus of N tokens is as large as the number of
    distinct words in N / `thinning` tokens. With a minimum count of 5, the ratio is about 5, because a word with 5
    occurrences in the corpus has about one in a fifth of the corpus. A separate growth law, fitted to vocabulary sizes,
    would predict too small a vocabulary for a larger corpus."""
    max_vocab_size: int | None = None
    """Maximum size of the vocabulary."""

    def vocabulary(self, tokens: float, bound: Bound = Bound.POINT) -> int:
        """Return the size of the vocabulary."""
        words = self.types.at(tokens / self.thinning, bound)
        return int(min(words, self.max_vocab_size or words))


def fit_laws(
    calibration: Calibration,
    counted: StoredVersion | None,
    max_vocab_size: int | None = None,
    max_types: float = math.inf,
) -> CorpusLaws:
    """Fit the growth laws.

    Args:
        calibration: measurements of the sample.
        counted: version of a build with the same counting options, or None. Its segments are further data points.
        max_vocab_size: maximum size of the vocabulary.
        max_types: maximum number of distinct words.
    """
    points = calibration.points
    further = build_sizes(counted) if counted else np.empty((0, 3))
    all_tokens = [*(point.tokens for point in points), *further[:, 0]]

    def sizes(name: str) -> list[float]:
        return [getattr(point, name) for point in points]

    def fit_sample(name: str, bending: float) -> GrowthLaw:
        return fit_growth_law(sizes("tokens"), sizes(name), bending)

    exponent = calibration.new_word_share if points[-1].tokens == max(all_tokens) else None
    types = fit_growth_law(all_tokens, [*sizes("types"), *further[:, 1]], WORDS_BENDING, max_types, exponent)
    vocabulary, tokens = calibration.vocabulary, points[-1].tokens
    if counted:
        vocabulary, tokens = counted.manifest.vocabulary, counted.manifest.tokens
    return CorpusLaws(
        types=types,
        chunks=fit_sample("chunks", WORDS_BENDING),
        entries=fit_growth_law(all_tokens, [*sizes("entries"), *further[:, 2]], PAIRS_BENDING),
        row_entries=fit_sample("row_entries", PAIRS_BENDING),
        landmark_entries=fit_sample("landmark_entries", PAIRS_BENDING),
        thinning=max(1.0, tokens / types.tokens_at(vocabulary)),
        max_vocab_size=max_vocab_size,
    )


def build_sizes(version: StoredVersion) -> np.ndarray:
    """Return tokens, types and entries of an average shard and of each merged segment, (1 + segments, 3) float64.

    Shards have similar sizes, so only their geometric mean is a data point.
    """
    fields = ("tokens", "types", "entries")
    shards, segments = (
        np.array([[getattr(segment, name) for name in fields] for segment in kind if segment.tokens], np.float64)
        for kind in (version.shards, version.segments)
    )
    merged = [len(segment.shards) > 1 for segment in version.segments if segment.tokens]
    return np.concatenate([np.exp(np.log(shards).mean(axis=0))[None], segments[merged]])
