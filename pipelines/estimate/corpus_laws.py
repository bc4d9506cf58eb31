"""Growth laws of a corpus, from a sample and from the counts of a build."""

import math
from dataclasses import dataclass

import numpy as np

from pipelines.estimate.calibration import Calibration
from pipelines.estimate.growth_law import PAIRS_BENDING, WORDS_BENDING, Bound, GrowthLaw, fit_growth_law
from pipelines.store.stored_versions import StoredVersion


@dataclass(frozen=True)
class CorpusLaws:
    """Sizes of a corpus as functions of its number of tokens; see `GrowthPoint`."""

    types: GrowthLaw
    """Number of distinct words."""
    chunks: GrowthLaw
    """Number of distinct strings between white space, which the tokenizer splits once and caches."""
    entries: GrowthLaw
    """Number of distinct pairs."""
    row_entries: GrowthLaw
    """Number of pairs of the word with the most pairs."""
    landmark_entries: GrowthLaw
    """Number of pairs in the products of mode spectral."""
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
    tokens = [point.tokens for point in points]
    sizes = build_sizes(counted) if counted else np.empty((0, 3))
    all_tokens = [*tokens, *sizes[:, 0]]
    last = points[-1]
    types = fit_growth_law(
        all_tokens,
        [*(point.types for point in points), *sizes[:, 1]],
        WORDS_BENDING,
        max_types,
        last.single_passage_types / last.types if last.tokens == max(all_tokens) else None,
    )
    entries = fit_growth_law(all_tokens, [*(point.entries for point in points), *sizes[:, 2]], PAIRS_BENDING)
    vocabulary, vocabulary_tokens = calibration.vocabulary, last.tokens
    if counted:
        vocabulary, vocabulary_tokens = counted.manifest.vocabulary, counted.manifest.tokens
    return CorpusLaws(
        types=types,
        chunks=fit_growth_law(tokens, [point.chunks for point in points], WORDS_BENDING),
        entries=entries,
        row_entries=fit_growth_law(tokens, [point.row_entries for point in points], PAIRS_BENDING),
        landmark_entries=fit_growth_law(tokens, [point.landmark_entries for point in points], PAIRS_BENDING),
        thinning=max(1.0, vocabulary_tokens / types.tokens_at(vocabulary)),
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
