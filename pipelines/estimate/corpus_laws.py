"""The laws of growth of a corpus, from a sample and from what a build has counted."""

import math
from dataclasses import dataclass

import numpy as np

from pipelines.estimate.calibration import Calibration
from pipelines.estimate.growth_law import HALF_BENT, STRAIGHT, Bound, GrowthLaw, fit
from pipelines.store.manifest import BuildManifest


@dataclass(frozen=True)
class CorpusLaws:
    """What so many tokens have; see `GrowthPoint`."""

    types: GrowthLaw
    chunks: GrowthLaw
    entries: GrowthLaw
    row_entries: GrowthLaw
    thinning: float
    """Words are kept by the vocabulary of a text as there are words in all of a text so many times smaller: for to
    occur five times here is about to occur once there. So a vocabulary is read off the law of words, at sizes that
    were seen, where a law of its own would bend too much to be followed."""
    max_vocab_size: int | None = None
    """The most words that a vocabulary may have."""

    def vocabulary(self, tokens: float, bound: Bound = Bound.POINT) -> int:
        """Words that the vocabulary keeps."""
        words = self.types.at(tokens / self.thinning, bound)
        return int(min(words, self.max_vocab_size or words))


def fit_laws(
    calibration: Calibration,
    manifest: BuildManifest | None,
    max_vocab_size: int | None = None,
    most_types: float = math.inf,
) -> CorpusLaws:
    """Fit the laws.

    Args:
        calibration: of the sample.
        manifest: of a build with the same counting options, whose shards and merged segments go far beyond a sample.
        max_vocab_size: see `BuildOptions`.
        most_types: words that the tokenizer knows, if their number is fixed.
    """
    points = calibration.points
    tokens = [point.tokens for point in points]
    counted = build_sizes(manifest) if manifest else np.empty((0, 3))
    types, entries = (
        fit(
            [*tokens, *counted[:, 0]], [*(getattr(point, name) for point in points), *counted[:, column]], bending, most
        )
        for column, name, bending, most in ((1, "types", STRAIGHT, most_types), (2, "entries", HALF_BENT, math.inf))
    )
    kept, of_tokens = calibration.vocabulary, points[-1].tokens
    if manifest:
        kept, of_tokens = manifest.vocabulary, manifest.tokens
    return CorpusLaws(
        types=types,
        chunks=fit(tokens, [point.chunks for point in points], STRAIGHT),
        entries=entries,
        row_entries=fit(tokens, [point.row_entries for point in points], HALF_BENT),
        thinning=max(1.0, of_tokens / types.tokens_at(kept)),
        max_vocab_size=max_vocab_size,
    )


def build_sizes(manifest: BuildManifest) -> np.ndarray:
    """Tokens, types and entries of a build's merged segments, and of its shards on average, (n, 3).

    Shards are about as large as one another, so they tell one point of the law, not many.
    """
    fields = ("tokens", "types", "entries")
    shards, segments = (
        np.array([[getattr(segment, name) for name in fields] for segment in kind if segment.tokens], np.float64)
        for kind in (manifest.shards, manifest.segments)
    )
    merged = [len(segment.shards) > 1 for segment in manifest.segments if segment.tokens]
    return np.concatenate([np.exp(np.log(shards).mean(axis=0))[None], segments[merged]])
