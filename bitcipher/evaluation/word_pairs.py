"""Word similarity: correlation of cosines with human scores."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from bitcipher.errors import BitcipherError
from bitcipher.evaluation.case_variants import CaseVariants
from bitcipher.evaluation.evaluation_sets import read_pairs
from bitcipher.table import VectorTable


@dataclass(frozen=True)
class WordPairsResult:
    """Correlation of cosines with human similarity scores."""

    spearman: float
    """Rank correlation, 0 if all cosines are equal."""
    pearson: float
    """Linear correlation, 0 if all cosines are equal."""
    pairs: int
    """Number of pairs in the file."""
    covered: int
    """Pairs whose two words are both in the vocabulary."""
    unknown: tuple[str, ...]
    """Words of the file that are outside the vocabulary, sorted."""

    @property
    def coverage(self) -> float:
        """Share of pairs whose two words are both in the vocabulary."""
        return self.covered / self.pairs


def evaluate_word_pairs(
    vectors: VectorTable,
    pairs: str | os.PathLike[str],
    delimiter: str | None = None,
    restrict_vocab: int | None = 300_000,
    case_insensitive: bool = True,
    dummy4unknown: bool = False,
) -> WordPairsResult:
    """Correlate cosines with human similarity scores. Names and defaults are gensim's.

    Args:
        vectors: the vectors.
        pairs: a file with two words and a score per line, see `read_pairs`.
        delimiter: column separator of the file, by default tabs or spaces.
        restrict_vocab: use only this many of the most frequent words.
        case_insensitive: whether to ignore case. Among words that differ only in case, the most frequent one is used.
        dummy4unknown: whether pairs with an unknown word get the cosine 0 instead of being skipped.

    Raises:
        BitcipherError: if the file is missing or damaged, or if the vocabulary covers fewer than two pairs.
    """
    scored = read_pairs(pairs, delimiter)
    variants = CaseVariants(vectors.index_to_key[:restrict_vocab], case_insensitive)
    is_covered = np.array([pair.first in variants and pair.second in variants for pair in scored])
    covered = [pair for pair, covers in zip(scored, is_covered, strict=True) if covers]
    if len(covered) < 2:
        raise BitcipherError(
            f"The vocabulary covers {len(covered)} of the {len(scored):,} pairs in {os.fspath(pairs)}, and at least 2 "
            "are needed: check that the language is the same."
        )
    # Imported only here, since importing scipy.stats takes most of a second.
    from scipy import stats

    cosines = np.zeros(len(scored))
    cosines[is_covered] = _cosines(
        vectors, [variants.row(pair.first) for pair in covered], [variants.row(pair.second) for pair in covered]
    )
    is_scored = np.ones(len(scored), bool) if dummy4unknown else is_covered
    scores = np.array([pair.score for pair in scored])
    spearman, pearson = 0.0, 0.0
    if np.ptp(cosines[is_scored]) and np.ptp(scores[is_scored]):
        ranked: Any = stats.spearmanr(scores[is_scored], cosines[is_scored])
        linear: Any = stats.pearsonr(scores[is_scored], cosines[is_scored])
        spearman, pearson = ranked.statistic, linear.statistic
    unknown = {word for pair in scored for word in pair[:2] if word not in variants}
    return WordPairsResult(float(spearman), float(pearson), len(scored), len(covered), tuple(sorted(unknown)))


def _cosines(vectors: VectorTable, first: list[int], second: list[int]) -> np.ndarray:
    rows = np.asarray(vectors.vectors)
    products = np.einsum("ij,ij->i", rows[first], rows[second], dtype=np.float64)
    lengths = vectors.norms[first] * vectors.norms[second]
    return np.divide(products, lengths, out=np.zeros(len(first)), where=lengths > 0)
