"""Growth laws of a corpus, from a sample and from the counts of a build."""

import math
from dataclasses import dataclass

import numpy as np

from pipelines.estimate.calibration import Calibration
from pipelines.estimate.growth_law import HALF_BENT, STRAIGHT, Bound, GrowthLaw, fit
from pipelines.store.manifest import BuildManifest


@dataclass(frozen=True)
class CorpusLaws:
    """Sizes of a corpus as functions of its tokens; see `GrowthPoint`."""

    types: GrowthLaw
    chunks: GrowthLaw
    entries: GrowthLaw
    row_entries: GrowthLaw
    thinning: float
    """A vocabulary has as many words as there are distinct words in a text that is this many times smaller, because a
    word that occurs five times here occurs about once there. So the vocabulary follows from the law of words within the
    measured range, where a separate law would bend too much."""
    max_vocab_size: int | None = None
    """Maximum size of the vocabulary."""

    def vocabulary(self, tokens: float, bound: Bound = Bound.POINT) -> int:
        """Return the size of the vocabulary."""
        words = self.types.at(tokens / self.thinning, bound)
        return int(min(words, self.max_vocab_size or words))


def fit_laws(
    calibration: Calibration,
    manifest: BuildManifest | None,
    max_vocab_size: int | None = None,
    max_types: float = math.inf,
) -> CorpusLaws:
    """Fit the growth laws.

    Args:
        calibration: measurements of the sample.
        manifest: manifest of a build with the same counting options, whose segments are much larger than a sample.
        max_vocab_size: maximum size of the vocabulary.
        max_types: number of tokens of the tokenizer, if it is fixed.
    """
    points = calibration.points
    tokens = [point.tokens for point in points]
    counted = build_sizes(manifest) if manifest else np.empty((0, 3))
    types, entries = (
        fit(
            [*tokens, *counted[:, 0]], [*(getattr(point, name) for point in points), *counted[:, column]], bending, most
        )
        for column, name, bending, most in ((1, "types", STRAIGHT, max_types), (2, "entries", HALF_BENT, math.inf))
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
    """Return tokens, types and entries of the shards on average, and of each merged segment, (n, 3) float64.

    Shards have similar sizes, so they give one point of the law, not many.
    """
    fields = ("tokens", "types", "entries")
    shards, segments = (
        np.array([[getattr(segment, name) for name in fields] for segment in kind if segment.tokens], np.float64)
        for kind in (manifest.shards, manifest.segments)
    )
    merged = [len(segment.shards) > 1 for segment in manifest.segments if segment.tokens]
    return np.concatenate([np.exp(np.log(shards).mean(axis=0))[None], segments[merged]])
